/* libFuzzer as a library: its main function, for a program that has its own. */
#ifndef CLIBFUZZER_H
#define CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argument_count, char ***arguments,
                        int (*run)(const uint8_t *bytes, size_t length));

#endif
