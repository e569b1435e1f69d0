/* The ciphers of SRTP, from OpenSSL's libcrypto. Contexts are made once and started anew for each packet. RT_SAFE marks calls
   that neither allocate nor lock then: measured with OpenSSL 3.0 (`SRTPTests`). */
#ifndef CCRYPTO_H
#define CCRYPTO_H

/* The plain SHA-1 below, which newer releases would rather have called through EVP. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

#define RT_SAFE __attribute__((swift_attr("@_noAllocation"), swift_attr("@_noLocks")))

/* AES-128-GCM (NIST SP 800-38D) with a 12-byte IV, for one direction; NULL if it cannot be had. */
static inline EVP_CIPHER_CTX *crypto_gcm(const uint8_t *key, int is_sealing) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  if (context && EVP_CipherInit_ex(context, EVP_aes_128_gcm(), NULL, key, NULL, is_sealing) == 1)
    return context;
  EVP_CIPHER_CTX_free(context);
  return NULL;
}

/* AES-128 in counter mode, which is the same in both directions. */
static inline EVP_CIPHER_CTX *crypto_counter(const uint8_t *key) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  if (context && EVP_CipherInit_ex(context, EVP_aes_128_ctr(), NULL, key, NULL, 1) == 1)
    return context;
  EVP_CIPHER_CTX_free(context);
  return NULL;
}

/* Encrypts or decrypts `length` bytes in place, as the context was made, with `header` and `more` authenticated beside them. Writes
   the 16-byte tag, or compares it: 0 if it does not fit, and then the bytes are void. */
RT_SAFE static inline int crypto_gcm_apply(EVP_CIPHER_CTX *context, const uint8_t *iv,
                                           const uint8_t *header, int header_length,
                                           const uint8_t *more, int more_length, uint8_t *data,
                                           int length, uint8_t *tag) {
  int written = 0, is_sealing = EVP_CIPHER_CTX_is_encrypting(context);
  if (EVP_CipherInit_ex(context, NULL, NULL, NULL, iv, -1) != 1) return 0;
  if (!is_sealing && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) != 1) return 0;
  if (EVP_CipherUpdate(context, NULL, &written, header, header_length) != 1) return 0;
  if (more_length > 0 && EVP_CipherUpdate(context, NULL, &written, more, more_length) != 1) return 0;
  if (length > 0 && EVP_CipherUpdate(context, data, &written, data, length) != 1) return 0;
  if (EVP_CipherFinal_ex(context, data + length, &written) != 1) return 0;
  return !is_sealing || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
}

/* Encrypts or decrypts `length` bytes in place, from the 16-byte counter on; 1 on success. */
RT_SAFE static inline int crypto_counter_apply(EVP_CIPHER_CTX *context, const uint8_t *counter,
                                               uint8_t *data, int length) {
  int written = 0;
  if (EVP_CipherInit_ex(context, NULL, NULL, NULL, counter, -1) != 1) return 0;
  return length == 0 || EVP_CipherUpdate(context, data, &written, data, length) == 1;
}

/* HMAC-SHA1 (RFC 2104) with a key of at most 64 bytes, as the states of the hash behind the two padded keys. OpenSSL's own HMAC
   allocates for each message, whichever way its context is used again; the hash itself does not. */
struct crypto_mac {
  SHA_CTX inner, outer;
};

static inline void crypto_mac_start(struct crypto_mac *mac, const uint8_t *key, size_t length) {
  uint8_t inner[64], outer[64];
  for (size_t i = 0; i < sizeof inner; i++) {
    uint8_t byte = i < length ? key[i] : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  SHA1_Init(&mac->inner);
  SHA1_Update(&mac->inner, inner, sizeof inner);
  SHA1_Init(&mac->outer);
  SHA1_Update(&mac->outer, outer, sizeof outer);
  OPENSSL_cleanse(inner, sizeof inner);
  OPENSSL_cleanse(outer, sizeof outer);
}

/* Writes the 20-byte code of `data` and, behind it, `more`. */
RT_SAFE static inline void crypto_mac_digest(const struct crypto_mac *mac, const uint8_t *data,
                                             size_t length, const uint8_t *more,
                                             size_t more_length, uint8_t *code) {
  SHA_CTX hash = mac->inner;
  SHA1_Update(&hash, data, length);
  SHA1_Update(&hash, more, more_length);
  SHA1_Final(code, &hash);
  hash = mac->outer;
  SHA1_Update(&hash, code, SHA_DIGEST_LENGTH);
  SHA1_Final(code, &hash);
}

static inline int crypto_random(uint8_t *bytes, int length) { return RAND_bytes(bytes, length) == 1; }

/* True if the bytes are equal; takes the same time whichever differ. */
RT_SAFE static inline int crypto_equal(const uint8_t *bytes, const uint8_t *others, size_t length) {
  return CRYPTO_memcmp(bytes, others, length) == 0;
}

/* Overwrites keys that are not needed any more. */
static inline void crypto_wipe(void *bytes, size_t length) { OPENSSL_cleanse(bytes, length); }

#endif
