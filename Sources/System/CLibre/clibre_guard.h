/* Whether libre's own calls of a function can be replaced by one of the same name: they go by the dynamic linker then, which libre's
   relocations show. A libre that was linked with -Bsymbolic-functions calls its own functions directly. */
#ifndef CRE_GUARD_H
#define CRE_GUARD_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

static inline const char *re_dynamic_address(const struct link_map *object, ElfW(Addr) value) {
  return (const char *)(value < object->l_addr ? value + object->l_addr : value);
}

static inline bool re_object_calls_by_name(const struct link_map *object, const char *name) {
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  const ElfW(Rela) *tables[2] = {NULL, NULL};
  size_t lengths[2] = {0, 0};
  for (const ElfW(Dyn) *entry = object->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
    const char *address = re_dynamic_address(object, entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB: symbols = (const ElfW(Sym) *)address; break;
    case DT_STRTAB: names = address; break;
    case DT_JMPREL: tables[0] = (const ElfW(Rela) *)address; break;
    case DT_PLTRELSZ: lengths[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
    case DT_RELA: tables[1] = (const ElfW(Rela) *)address; break;
    case DT_RELASZ: lengths[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
    default: break;
    }
  }
  if (!symbols || !names) return false;
  for (int table = 0; table < 2; table++)
    for (size_t place = 0; tables[table] && place < lengths[table]; place++) {
      size_t symbol = ELF64_R_SYM(tables[table][place].r_info);
      if (symbol && !strcmp(names + symbols[symbol].st_name, name)) return true;
    }
  return false;
}

/* True if libre calls the function of that name by the dynamic linker. */
static inline bool re_calls_by_name(const char *name) {
  for (const struct link_map *object = _r_debug.r_map; object; object = object->l_next)
    if (object->l_name && strstr(object->l_name, "/libre.so."))
      return re_object_calls_by_name(object, name);
  return false;
}

#endif
