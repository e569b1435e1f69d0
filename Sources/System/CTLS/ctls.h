/* Certificates and DTLS, from OpenSSL's libssl: macros and callbacks that Swift cannot import are made plain here. */
#ifndef CTLS_H
#define CTLS_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>

/* A certificate that never ends says so with this date (RFC 5280 section 4.1.2.5). */
#define SEC_NO_EXPIRY "99991231235959Z"

/* Writes what an in-memory BIO holds, at most `capacity` bytes; their number. */
static inline int sec_take(BIO *bio, uint8_t *buffer, int capacity) {
  int length = BIO_read(bio, buffer, capacity);
  return length > 0 ? length : 0;
}

/* Makes a P-256 key and a certificate for it, signed by itself, and writes both as PEM; the length, or 0. */
static inline int sec_make_identity(const char *name, uint8_t *pem, int capacity) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  BIO *out = BIO_new(BIO_s_mem());
  uint64_t serial = 0;
  int length = 0;
  if (key && certificate && out && RAND_bytes((uint8_t *)&serial, sizeof serial) == 1) {
    X509_NAME *subject = X509_get_subject_name(certificate);
    int good = X509_set_version(certificate, X509_VERSION_3) &&
               ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) &&
               ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "19700101000000Z") &&
               ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), SEC_NO_EXPIRY) &&
               X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const uint8_t *)name, -1, -1,
                                          0) &&
               X509_set_issuer_name(certificate, subject) && X509_set_pubkey(certificate, key) &&
               X509_sign(certificate, key, EVP_sha256()) &&
               PEM_write_bio_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) &&
               PEM_write_bio_X509(out, certificate);
    if (good) length = sec_take(out, pem, capacity);
  }
  BIO_free(out);
  X509_free(certificate);
  EVP_PKEY_free(key);
  ERR_clear_error();
  return length;
}

static inline int sec_digest(const X509 *certificate, uint8_t *fingerprint) {
  unsigned length = 32;
  return X509_digest(certificate, EVP_sha256(), fingerprint, &length) == 1;
}

static inline int sec_trust_later(int is_good, X509_STORE_CTX *store) {
  /* The fingerprint is compared with what signalling says once both are known. */
  (void)is_good, (void)store;
  return 1;
}

static inline unsigned sec_pause(SSL *ssl, unsigned microseconds) {
  /* RFC 6347's second is too long for a phone that rings. Doubled up to four: what may be sent without an answer has to last for
     as long as a phone rings. */
  (void)ssl;
  return microseconds == 0 ? 50000 : microseconds < 2000000 ? 2 * microseconds : 4000000;
}

/* A passphrase that is not there: OpenSSL would ask for one at the terminal, and wait. */
static inline int sec_no_passphrase(char *buffer, int capacity, int is_writing, void *arg) {
  (void)buffer, (void)capacity, (void)is_writing, (void)arg;
  return -1;
}

/* A context for DTLS-SRTP (RFC 5764) with the key and the certificate of a PEM text, and the certificate's SHA-256 fingerprint of
   32 bytes; NULL if the text is not both, or is encrypted. */
static inline SSL_CTX *sec_context(const uint8_t *pem, int length, uint8_t *fingerprint) {
  SSL_CTX *context = SSL_CTX_new(DTLS_method());
  BIO *keys = BIO_new_mem_buf(pem, length), *certificates = BIO_new_mem_buf(pem, length);
  EVP_PKEY *key = keys ? PEM_read_bio_PrivateKey(keys, NULL, sec_no_passphrase, NULL) : NULL;
  X509 *certificate =
      certificates ? PEM_read_bio_X509(certificates, NULL, sec_no_passphrase, NULL) : NULL;
  int good = context && key && certificate && SSL_CTX_use_certificate(context, certificate) == 1 &&
             SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1 &&
             SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
             SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80") == 0 &&
             sec_digest(certificate, fingerprint);
  if (good) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, sec_trust_later);
    SSL_CTX_set_read_ahead(context, 1);
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  BIO_free(certificates);
  BIO_free(keys);
  ERR_clear_error();
  if (good) return context;
  SSL_CTX_free(context);
  return NULL;
}

/* One side of a handshake, whose datagrams go in and out by memory; NULL if there is none left. */
static inline SSL *sec_association(SSL_CTX *context, int is_client) {
  SSL *ssl = SSL_new(context);
  BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
  if (!ssl || !in || !out) {
    SSL_free(ssl);
    BIO_free(in);
    BIO_free(out);
    return NULL;
  }
  BIO_set_mem_eof_return(in, -1);
  SSL_set_bio(ssl, in, out);
  SSL_set_mtu(ssl, 1200);
  DTLS_set_timer_cb(ssl, sec_pause);
  if (is_client) SSL_set_connect_state(ssl);
  else SSL_set_accept_state(ssl);
  return ssl;
}

/* Goes on with what has arrived: 1 if the handshake is over, 0 if it waits, -1 if it has failed. */
static inline int sec_step(SSL *ssl) {
  ERR_clear_error();
  int code = SSL_do_handshake(ssl);
  if (code == 1) return 1;
  int reason = SSL_get_error(ssl, code);
  ERR_clear_error();
  return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

/* Sends the last flight again if it is time: -1 if that was too often. */
static inline int sec_repeat(SSL *ssl) {
  long code = DTLSv1_handle_timeout(ssl);
  ERR_clear_error();
  return code < 0 ? -1 : 0;
}

/* Takes in a datagram; 0 if nothing reads it any more, or if too much waits to be read. */
static inline int sec_feed(SSL *ssl, const uint8_t *datagram, int length) {
  if (SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) return 0;
  if (BIO_ctrl_pending(SSL_get_rbio(ssl)) + (size_t)length > 16384) return 0;
  return BIO_write(SSL_get_rbio(ssl), datagram, length) == length;
}

static inline int sec_output(SSL *ssl, uint8_t *buffer, int capacity) {
  return sec_take(SSL_get_wbio(ssl), buffer, capacity);
}

/* Encrypts a message of the application's; 1 on success. */
static inline int sec_write(SSL *ssl, const uint8_t *message, int length) {
  ERR_clear_error();
  return SSL_write(ssl, message, length) == length;
}

/* The application's next message, at most `capacity` bytes; 0 if there is none, -1 if none can come any more. */
static inline int sec_read(SSL *ssl, uint8_t *message, int capacity) {
  ERR_clear_error();
  int length = SSL_read(ssl, message, capacity);
  int reason = SSL_get_error(ssl, length);
  ERR_clear_error();
  if (length > 0) return length;
  return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

/* Tells the far side that no more messages come (RFC 8446 section 6.1). */
static inline void sec_close(SSL *ssl) {
  ERR_clear_error();
  SSL_shutdown(ssl);
  ERR_clear_error();
}

/* Bytes that have arrived and were not read. */
static inline size_t sec_pending(SSL *ssl) {
  return BIO_ctrl_pending(SSL_get_rbio(ssl));
}

/* The SHA-256 fingerprint of the far side's certificate, and whether that has no end; 0 if it has shown none. */
static inline int sec_peer(const SSL *ssl, uint8_t *fingerprint, int *lasts) {
  X509 *certificate = SSL_get1_peer_certificate(ssl);
  if (!certificate) return 0;
  ASN1_TIME *never = ASN1_TIME_new();
  int good = sec_digest(certificate, fingerprint);
  *lasts = never && ASN1_TIME_set_string_X509(never, SEC_NO_EXPIRY) &&
           ASN1_TIME_compare(X509_get0_notAfter(certificate), never) == 0;
  ASN1_TIME_free(never);
  X509_free(certificate);
  return good;
}

/* The number of the SRTP profile (RFC 5764 section 4.1.2) that the sides chose, 0 for none. */
static inline int sec_profile(SSL *ssl) {
  const SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(ssl);
  return profile ? (int)profile->id : 0;
}

/* Bytes that both sides of the association have, and nobody else (RFC 5705). */
static inline int sec_export(SSL *ssl, const char *label, uint8_t *bytes, size_t length) {
  return SSL_export_keying_material(ssl, bytes, length, label, strlen(label), NULL, 0, 0) == 1;
}

static inline void sec_sha256(const uint8_t *bytes, size_t length, uint8_t *digest) {
  unsigned written = 32;
  EVP_Digest(bytes, length, digest, &written, EVP_sha256(), NULL);
}

static inline int sec_random(uint8_t *bytes, int length) { return RAND_bytes(bytes, length) == 1; }

static inline void sec_wipe(void *bytes, size_t length) { OPENSSL_cleanse(bytes, length); }

#endif
