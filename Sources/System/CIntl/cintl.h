/* Translated texts (gettext) in the language of the user, whatever language the process runs in. */
#ifndef CINTL_H
#define CINTL_H

#include <libintl.h>
#include <locale.h>

/* The user's language, or NULL if the system does not have it. */
static inline void *intl_user_language(void) { return (void *)newlocale(LC_CTYPE_MASK | LC_MESSAGES_MASK, "", (locale_t)0); }

/* What domain has for key in that language, or key itself; for this thread alone, since setlocale is for all. */
static inline const char *intl_text(void *language, const char *domain, const char *key) {
  locale_t before = uselocale((locale_t)language);
  const char *text = dgettext(domain, key);
  uselocale(before);
  return text;
}

#endif
