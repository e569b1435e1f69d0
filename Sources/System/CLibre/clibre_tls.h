/* TLS for libre's SIP transport: a context with the user's certificate, and a judge of the certificates that far sides show. */
#ifndef CRE_TLS_H
#define CRE_TLS_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

/* Decides about the far side of a connection. `token` is what `re_tls_name_next` gave the connection, NULL for none; `error`
   is 0 if the system's authorities vouch for it under that name, or else OpenSSL's reason why not. 1 to accept. */
typedef int(re_tls_judge)(void *arg, int is_server, const char *token, const uint8_t *fingerprint,
                          int error);

static inline int re_tls_verify(X509_STORE_CTX *store, void *judge) {
  SSL *ssl = (SSL *)X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  X509 *certificate = X509_STORE_CTX_get0_cert(store);
  uint8_t fingerprint[32];
  unsigned length = sizeof fingerprint;
  if (!ssl || !certificate || X509_digest(certificate, EVP_sha256(), fingerprint, &length) != 1)
    return 0;
  int error = X509_verify_cert(store) == 1 ? 0 : X509_STORE_CTX_get_error(store);
  ERR_clear_error();
  const char *token = X509_VERIFY_PARAM_get0_host(SSL_get0_param(ssl), 0);
  void *arg = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  int is_accepted = ((re_tls_judge *)judge)(arg, SSL_is_server(ssl), token, fingerprint, error);
  X509_STORE_CTX_set_error(store, is_accepted ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
  return is_accepted;
}

static inline long re_tls_refuse(BIO *bio, int operation, const char *bytes, size_t length, int argi, long argl, int code,
                                 size_t *done) {
  (void)bio, (void)bytes, (void)length, (void)argi, (void)argl, (void)done;
  return operation == BIO_CB_WRITE ? -1 : code;
}

/* After its last message a far side has nothing to say: OpenSSL reads no more, and libre would keep whatever comes. A write that
   fails makes libre close the connection. */
static inline void re_tls_note(const SSL *ssl, int where, int code) {
  if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && (code & 0xFF) == SSL_AD_CLOSE_NOTIFY)
    BIO_set_callback_ex(SSL_get_rbio(ssl), re_tls_refuse);
}

/* A context for TLS 1.2 and 1.3 with the key and the certificate of a PEM text. Both sides show theirs, if they have one. */
static inline int re_tls_alloc(struct tls **tls, const uint8_t *pem, size_t length,
                               re_tls_judge *judge, void *arg) {
  int code = tls_alloc(tls, TLS_METHOD_SSLV23, NULL, NULL);
  if (!code) code = tls_set_certificate(*tls, (const char *)pem, length);
  if (code) return code;
  SSL_CTX *context = tls_openssl_context(*tls);
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) return EPROTO;
  /* Where there are no authorities, nobody is trusted by them. */
  SSL_CTX_set_default_verify_paths(context);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_app_data(context, arg);
  SSL_CTX_set_info_callback(context, re_tls_note);
  SSL_CTX_set_cert_verify_callback(context, re_tls_verify, (void *)judge);
  ERR_clear_error();
  return 0;
}

/* What an error of a judge means. */
static inline const char *re_tls_error_text(int error) {
  return X509_verify_cert_error_string(error);
}

/* The name under which connections that are opened from now on are judged; NULL for none. A connection takes it over when it is
   opened, which libre does while it sends the request that needs it. */
static inline void re_tls_name_next(struct tls *tls, const char *token) {
  X509_VERIFY_PARAM_set1_host(SSL_CTX_get0_param(tls_openssl_context(tls)), token, 0);
}

/* The name under which every connection of a context is judged; it may be a numeric address. */
static inline void re_tls_name_all(struct tls *tls, const char *name) {
  X509_VERIFY_PARAM *parameters = SSL_CTX_get0_param(tls_openssl_context(tls));
  if (X509_VERIFY_PARAM_set1_ip_asc(parameters, name) != 1)
    X509_VERIFY_PARAM_set1_host(parameters, name, 0);
  ERR_clear_error();
}

#endif
