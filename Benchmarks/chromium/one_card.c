/* Chromium looks for ALSA's devices card by card and finds no headset that only a configuration file defines.
   Preloaded, this answers with one card and one device: the one that RIVAL_HEADSET names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char device[] = "headset";

int snd_card_next(int *card) {
  *card = *card < 0 ? 0 : -1;
  return 0;
}

static int answer(const char *text, char **copy) {
  *copy = strdup(text);
  return *copy ? 0 : -ENOMEM;
}

int snd_card_get_name(int card, char **name) { return answer("Headset", name); }

int snd_card_get_longname(int card, char **name) { return answer("Headset of the rig", name); }

int snd_device_name_hint(int card, const char *interface, void ***hints) {
  void **list = calloc(2, sizeof *list);
  if (!list) return -ENOMEM;
  list[0] = strcmp(interface, "pcm") == 0 ? device : NULL;
  *hints = list;
  return 0;
}

char *snd_device_name_get_hint(const void *hint, const char *id) {
  const char *name = getenv("RIVAL_HEADSET");
  if (strcmp(id, "NAME") == 0) return strdup(name ? name : "default");
  if (strcmp(id, "DESC") == 0) return strdup("Headset");
  /* Without an IOID it captures and plays. */
  return NULL;
}

int snd_device_name_free_hint(void **hints) {
  free(hints);
  return 0;
}
