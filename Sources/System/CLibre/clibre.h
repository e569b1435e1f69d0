/* libre (SIP, SDP, event loop). Variadic functions and unions that Swift cannot import are made plain
   here, and every difference between releases of libre stays in this file. Built against 1.1.0. */
#ifndef CRE_H
#define CRE_H

#define HAVE_INTTYPES_H 1
#define HAVE_STDBOOL_H 1
#define HAVE_INET6 1
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#define USE_OPENSSL 1
#include <re.h>
#define DEBUG_MODULE "sidetone"
#define DEBUG_LEVEL 0
#include <re_dbg.h>

/* Copies a counted string; always terminated. */
static inline void re_copy_pl(const struct pl *text, char *buffer, size_t capacity) {
  size_t length = text && text->p ? text->l : 0;
  if (length >= capacity) length = capacity - 1;
  for (size_t i = 0; i < length; i++) buffer[i] = text->p[i];
  buffer[length] = 0;
}

static inline struct mbuf *re_buffer_from(const uint8_t *bytes, size_t length) {
  struct mbuf *buffer = mbuf_alloc(length ? length : 1);
  if (!buffer) return NULL;
  if (mbuf_write_mem(buffer, bytes, length)) return (struct mbuf *)mem_deref(buffer);
  buffer->pos = 0;
  return buffer;
}

/* The numeric host and the port of an address; 0 or an errno. */
static inline int re_address_text(const struct sa *address, char *buffer, size_t capacity,
                                  uint16_t *port) {
  *port = sa_port(address);
  return sa_ntop(address, buffer, (int)capacity);
}

/* Has a connection send each message at once: without that, one of two in quick succession waits for the far side's kernel to
   acknowledge the first, which takes up to 40 ms. What is lost is sent again six times before the pauses double, and with Linux 6.15
   and later each second at least; RFC 6298 section 5.5 has them double from the first loss on, and a call is given up after 32 s.
   The kernel counts attempts, so it would give up after 15 s then: it is given the usual times, 15 min, and 127 s to connect. */
enum { RE_LONGEST_PAUSE = 44 /* TCP_RTO_MAX_MS, which older headers lack */ };
static inline void re_hasten(int descriptor) {
  int on = 1, milliseconds = 1000, attempts = 127;
  unsigned limit = 900000;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
  if (setsockopt(descriptor, IPPROTO_TCP, RE_LONGEST_PAUSE, &milliseconds, sizeof milliseconds)) return;
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
  setsockopt(descriptor, IPPROTO_TCP, TCP_SYNCNT, &attempts, sizeof attempts);
}

/* Listens by UDP, TCP or, with a context, TLS. */
static inline int re_transport_add(struct sip *sip, enum sip_transp transport, const char *host,
                                   uint16_t port, struct tls *tls) {
  struct sa address;
  int code = sa_set_str(&address, host, port);
  return code ? code : sip_transp_add(sip, transport, &address, tls);
}

/* The port that the transport for destinations of this family is bound to, 0 if there is none. */
static inline uint16_t re_transport_port(struct sip *sip, enum sip_transp transport,
                                         const char *host) {
  struct sa destination, local;
  if (sa_set_str(&destination, host, 5060)) return 0;
  if (sip_transp_laddr(sip, &local, transport, &destination)) return 0;
  return sa_port(&local);
}

/* A client of the name servers that this machine uses. */
static inline int re_name_client(struct dnsc **client) {
  struct sa servers[4];
  uint32_t count = 4;
  char domain[64];
  int code = dns_srv_get(domain, sizeof domain, servers, &count);
  if (code) return code;
  return count ? dnsc_alloc(client, NULL, servers, count) : ENOENT;
}

/* Takes over the name servers of the network that the machine is in now. */
static inline void re_follow_name_servers(struct dnsc *client) {
  struct sa servers[4];
  uint32_t count = 4;
  char domain[64];
  if (client && !dns_srv_get(domain, sizeof domain, servers, &count) && count)
    dnsc_srv_set(client, servers, count);
}

/* What a session authenticates with, in libre's memory: the session outlives the call that made it, until its goodbye is
   answered. */
struct re_credentials {
  char *login;
  char *password;
  /* The only realm that is answered, NULL for any; whether it has asked for more than MD5, and named a quality; and whether only a
     proxy is answered, not the far side. */
  char *realm;
  bool is_proxy_only;
  bool is_strong;
  bool has_quality;
};

static inline void re_credentials_free(void *arg) {
  struct re_credentials *credentials = (struct re_credentials *)arg;
  mem_deref(credentials->login);
  mem_deref(credentials->password);
  mem_deref(credentials->realm);
}

static inline struct re_credentials *re_credentials_alloc(const char *login, const char *password, const char *realm) {
  struct re_credentials *credentials =
      (struct re_credentials *)mem_zalloc(sizeof *credentials, re_credentials_free);
  if (!credentials) return NULL;
  if (str_dup(&credentials->login, login) || str_dup(&credentials->password, password) ||
      (realm && str_dup(&credentials->realm, realm)))
    return (struct re_credentials *)mem_deref(credentials);
  return credentials;
}

static inline int re_give_credentials(char **login, char **password, const char *realm, void *arg) {
  const struct re_credentials *credentials = (const struct re_credentials *)arg;
  (void)realm;
  if (!credentials) return EACCES;
  int code = str_dup(login, credentials->login);
  return code ? code : str_dup(password, credentials->password);
}

/* What this side takes (RFC 3261 section 20.5). */
#define RE_METHODS "INVITE,ACK,BYE,CANCEL,OPTIONS,INFO,REFER,NOTIFY,UPDATE"

static inline const char *re_methods(void) { return RE_METHODS; }

static inline int re_invite(struct sipsess **session, struct sipsess_sock *socket, const char *to,
                            const char *from_name, const char *from, const char *contact_user,
                            const char *routes[], uint32_t route_count, struct mbuf *offer,
                            struct re_credentials *credentials, sipsess_offer_h *offer_handler,
                            sipsess_answer_h *answer_handler, sipsess_progr_h *progress_handler,
                            sipsess_estab_h *established_handler, sipsess_info_h *info_handler,
                            sipsess_refer_h *refer_handler, sipsess_close_h *close_handler,
                            const char *headers, void *arg) {
  return sipsess_connect(session, socket, to, from_name, from, contact_user, routes, route_count,
                         "application/sdp", offer, re_give_credentials, credentials,
                         credentials != NULL,
                         offer_handler, answer_handler, progress_handler, established_handler,
                         info_handler, refer_handler, close_handler, arg,
                         "Allow: " RE_METHODS "\r\nSupported: replaces,timer\r\n%s", headers);
}

static inline int re_ring(struct sipsess **session, struct sipsess_sock *socket,
                          const struct sip_msg *message, const char *contact_user,
                          struct re_credentials *credentials, sipsess_offer_h *offer_handler, sipsess_answer_h *answer_handler,
                          sipsess_estab_h *established_handler, sipsess_info_h *info_handler,
                          sipsess_refer_h *refer_handler, sipsess_close_h *close_handler,
                          void *arg) {
  return sipsess_accept(session, socket, message, 180, "Ringing", contact_user, "application/sdp",
                        NULL, re_give_credentials, credentials, credentials != NULL, offer_handler, answer_handler,
                        established_handler, info_handler, refer_handler, close_handler, arg, NULL);
}

/* Asks within a session's dialog whether the far side is still there (RFC 3261 section 11). */
static inline int re_ask(struct sip_request **request, struct sip *sip, struct sipsess *session,
                         sip_resp_h *response_handler, void *arg) {
  return sip_drequestf(request, sip, true, "OPTIONS", sipsess_dialog(session), 0, NULL, NULL,
                       response_handler, arg, "Content-Length: 0\r\n\r\n");
}

/* Asks outside of calls what a far side can do (RFC 3261 section 11). `name` tells this question from others. */
static inline int re_probe(struct sip_request **request, struct sip *sip, const char *target,
                           const char *from, const char *name, sip_send_h *send_handler,
                           sip_resp_h *response_handler, void *arg) {
  struct uri route;
  struct pl text;
  pl_set_str(&text, target);
  int code = uri_decode(&route, &text);
  if (code) return code;
  return sip_requestf(request, sip, true, "OPTIONS", target, &route, NULL, send_handler,
                      response_handler, arg,
                      "To: <%s>\r\n"
                      "From: <%s>;tag=%s\r\n"
                      "Call-ID: %s\r\n"
                      "CSeq: 1 OPTIONS\r\n"
                      "Content-Length: 0\r\n\r\n",
                      target, from, name, name);
}

/* Bytes of the body: what lies behind `Content-Length` is none of it (RFC 3261 section 18.3). pl_u32 reads 0 where there is no number. */
static inline size_t re_body_length(const struct sip_msg *message) {
  size_t left = message->mb ? mbuf_get_left(message->mb) : 0;
  const struct pl *length = &message->clen;
  if (!pl_isset(length) || length->l > 9) return left;
  for (size_t i = 0; i < length->l; i++)
    if (length->p[i] < '0' || length->p[i] > '9') return left;
  return pl_u32(length) < left ? pl_u32(length) : left;
}

/* The digit that a value begins with: one alone, or the number of its event (RFC 4733 section 3.2), 10 to 15; 0 for others. */
static inline char re_digit_of(const char *text, size_t length) {
  while (length && strchr(" \t\r\n", *text)) text++, length--;
  size_t end = 0;
  while (end < length && !strchr(" \t\r\n", text[end])) end++;
  if (end == 1 && strchr("0123456789*#ABCDabcd", text[0])) return text[0];
  return end == 2 && text[0] == '1' && text[1] >= '0' && text[1] <= '5' ? "*#ABCD"[text[1] - '0'] : 0;
}

/* The DTMF digit in an INFO request, as telephones have sent them since before RFC 4733; 0 if there is none. */
static inline char re_info_digit(const struct sip_msg *message) {
  struct pl value;
  if (!message->mb) return 0;
  const char *body = (const char *)mbuf_buf(message->mb);
  size_t length = re_body_length(message);
  bool is_relay = msg_ctype_cmp(&message->ctyp, "application", "dtmf-relay");
  if (!is_relay && !msg_ctype_cmp(&message->ctyp, "application", "dtmf")) return 0;
  /* Some write either form under either name. */
  if (!re_regex(body, length, "Signal=[^\r\n]+", &value)) return re_digit_of(value.p, value.l);
  return is_relay ? 0 : re_digit_of(body, length);
}

/* What libre acts upon before it shows it. */
enum re_early { RE_EARLY_NOTHING, RE_EARLY_CANCEL, RE_EARLY_FINAL, RE_EARLY_ACK, RE_EARLY_OFFER };

struct re_text {
  char *buffer;
  size_t capacity, length;
};

static inline bool re_add_value(const struct sip_hdr *header, const struct sip_msg *message, void *arg) {
  struct re_text *text = (struct re_text *)arg;
  (void)message;
  if (header->val.l + 2 > text->capacity - text->length) return false;
  if (text->length) text->buffer[text->length++] = ',';
  memcpy(text->buffer + text->length, header->val.p, header->val.l);
  text->length += header->val.l;
  text->buffer[text->length] = 0;
  return false;
}

/* Looks at a message that has come, or that goes out. Of a CANCEL that has come, which libre takes care of itself, all values of
   `Reason` (RFC 3326) are written as `text`, with commas between them; of a final response to an INVITE, after some of which libre forgets what a re-INVITE was for,
   the status. An INVITE with a description that goes out is an offer. `sequence` is the CSeq. */
static inline enum re_early re_look_early(bool is_sent, const uint8_t *bytes, size_t length,
                                          char *call_id, size_t call_id_capacity, char *text,
                                          size_t text_capacity, uint32_t *sequence) {
  enum re_early kind = RE_EARLY_NOTHING;
  struct sip_msg *message = NULL;
  text[0] = 0;
  /* What keeps connections alive may stand before a message. */
  while (length && (*bytes == '\r' || *bytes == '\n')) bytes++, length--;
  if (length < 12) return kind;
  bool is_response = !memcmp(bytes, "SIP/2.0 ", 8) && memchr("23456", bytes[8], 5);
  bool is_looked_at = is_sent ? !memcmp(bytes, "INVITE ", 7)
                              : is_response || !memcmp(bytes, "CANCEL ", 7) || !memcmp(bytes, "ACK ", 4);
  if (!is_looked_at) return kind;
  struct mbuf *buffer = re_buffer_from(bytes, length);
  if (!buffer) return kind;
  if (!sip_msg_decode(&message, buffer)) {
    re_copy_pl(&message->callid, call_id, call_id_capacity);
    *sequence = message->cseq.num;
    if (is_sent) {
      if (mbuf_get_left(buffer)) kind = RE_EARLY_OFFER;
    } else if (!message->req) {
      if (!pl_strcmp(&message->cseq.met, "INVITE")) kind = RE_EARLY_FINAL;
      re_snprintf(text, text_capacity, "%u", message->scode);
    } else if (!pl_strcmp(&message->met, "ACK")) {
      kind = RE_EARLY_ACK;
    } else if (sip_msg_hdr(message, SIP_HDR_REASON)) {
      struct re_text reasons = {text, text_capacity, 0};
      sip_msg_hdr_apply(message, true, SIP_HDR_REASON, re_add_value, &reasons);
      kind = RE_EARLY_CANCEL;
    }
  }
  mem_deref(message);
  mem_deref(buffer);
  return kind;
}

static inline int re_answer(struct sipsess *session, struct mbuf *description,
                            const char *headers) {
  return sipsess_answer(session, 200, "OK", description,
                        "Allow: " RE_METHODS "\r\nSupported: replaces,timer\r\n%s", headers);
}

static inline int re_reject(struct sipsess *session, uint16_t code, const char *reason) {
  return sipsess_reject(session, code, reason, NULL);
}

static inline int re_reply_options(struct sip *sip, const struct sip_msg *message) {
  return sip_replyf(sip, message, 200, "OK",
                    "Allow: " RE_METHODS "\r\n"
                    "Accept: application/sdp\r\n"
                    "Content-Length: 0\r\n\r\n");
}

static inline int re_reply(struct sip *sip, const struct sip_msg *message, uint16_t code,
                           const char *reason) {
  return sip_treply(NULL, sip, message, code, reason);
}

/* The same without a transaction: nothing is kept of the request, and the answer is not repeated. `headers` end with CRLF. */
static inline int re_refuse(struct sip *sip, const struct sip_msg *message, uint16_t code,
                            const char *reason, const char *headers) {
  return sip_replyf(sip, message, code, reason, "%sContent-Length: 0\r\n\r\n", headers);
}

/* True for a request whose answer would not go to where it came from: its Via names an address for that (`maddr`, for multicast),
   which may be a stranger's. */
static inline bool re_answers_elsewhere(const struct sip_msg *message) {
  struct pl value;
  struct sa named;
  if (msg_param_decode(&message->via.params, "maddr", &value)) return false;
  return sa_set(&named, &value, 0) || !sa_cmp(&named, &message->src, SA_ADDR);
}

/* Leaves the body of a message unread: libre takes any body of an INVITE for an offer. */
static inline void re_skip_body(const struct sip_msg *message) {
  if (message->mb) message->mb->pos = message->mb->end;
}

/* The address at the other end of a connected socket; 0 or an errno. */
static inline int re_peer_name(int descriptor, struct sa *address) {
  address->len = sizeof address->u;
  return getpeername(descriptor, &address->u.sa, &address->len) ? errno : 0;
}

/* The Call-ID of a session, NULL before it has one. */
static inline const char *re_call_id(const struct sipsess *session) {
  return session ? sip_dialog_callid(sipsess_dialog(session)) : NULL;
}

/* True if an address is reached by TLS. */
static inline bool re_uri_is_secure(const struct uri *uri) {
  struct pl transport;
  if (!pl_strcasecmp(&uri->scheme, "sips")) return true;
  return !msg_param_decode(&uri->params, "transport", &transport) && !pl_strcasecmp(&transport, "tls");
}

/* The numeric address that a URI names; false if it names a host by name. */
static inline bool re_uri_address(const struct uri *uri, struct sa *address) {
  uint16_t usual = re_uri_is_secure(uri) ? SIP_PORT_TLS : SIP_PORT;
  return !sa_set(address, &uri->host, uri->port ? uri->port : usual);
}

/* The host that the sender of a message names as its own; empty if it names none. */
static inline struct pl re_contact_host(const struct sip_msg *message) {
  const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_CONTACT);
  struct sip_addr contact;
  return header && !sip_addr_decode(&contact, &header->val) ? contact.uri.host : (struct pl){NULL, 0};
}

/* The URI that the sender of a message names as its own. */
static inline struct pl re_contact_uri(const struct sip_msg *message) {
  const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_CONTACT);
  struct sip_addr contact;
  return header && !sip_addr_decode(&contact, &header->val) ? contact.auri : (struct pl){NULL, 0};
}

/* The numeric address that the sender of a message names as its own; false if it names none, or one by name. */
static inline bool re_contact_address(const struct sip_msg *message, struct sa *named) {
  const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_CONTACT);
  struct sip_addr contact;
  return header && !sip_addr_decode(&contact, &header->val) && re_uri_address(&contact.uri, named);
}

static inline bool re_visit_proxy(const struct sip_hdr *header, const struct sip_msg *message, void *arg) {
  struct sip_addr *route = (struct sip_addr *)arg;
  (void)message;
  if (sip_addr_decode(route, &header->val)) memset(route, 0, sizeof *route);
  return true;
}

/* The numeric address of the nearest proxy that recorded its route in a message; false without one, or if it has a name. */
static inline bool re_proxy_address(const struct sip_msg *message, struct sa *address) {
  struct sip_addr route;
  memset(&route, 0, sizeof route);
  /* A request lists the last proxy first, a response the first one last. */
  sip_msg_hdr_apply(message, message->req, SIP_HDR_RECORD_ROUTE, re_visit_proxy, &route);
  return pl_isset(&route.uri.host) && re_uri_address(&route.uri, address);
}

/* True if a message comes from a server's numeric address and port, and, where there are connections, over one that this side has
   opened: not by the port that it takes connections at. */
static inline bool re_is_from_server(const struct sip_msg *message, enum sip_transp transport, const char *host, uint16_t port,
                                     uint16_t own_port) {
  struct sa address;
  return message->tp == transport && !sa_set_str(&address, host, port) &&
         sa_cmp(&message->src, &address, SA_ALL) &&
         (transport == SIP_TRANSP_UDP || sa_port(&message->dst) != own_port);
}

/* True if the address that the sender of a message names for later requests is reached by TLS. */
static inline bool re_is_contact_secure(const struct sip_msg *message) {
  const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_CONTACT);
  struct sip_addr contact;
  return header && !sip_addr_decode(&contact, &header->val) && re_uri_is_secure(&contact.uri);
}

static inline bool re_is_same_host(const struct sa *one, const struct sa *other) {
  return sa_cmp(one, other, SA_ADDR);
}

/* True if a request comes from where a message of its dialog's far side came from: the same address, and for datagrams the same
   port or the one that was named. A connection may be another one. A router may have changed the port meanwhile where what was
   named is not where the message came from: then any will do (`named_port` 0). */
static inline bool re_is_from(const struct sip_msg *message, const struct sa *peer,
                              uint16_t named_port, enum sip_transp transport) {
  if (message->tp == SIP_TRANSP_UDP && transport == SIP_TRANSP_UDP)
    return sa_cmp(&message->src, peer, SA_ADDR) &&
           (!named_port || sa_port(&message->src) == sa_port(peer) || sa_port(&message->src) == named_port);
  /* What was encrypted stays so. */
  if (transport == SIP_TRANSP_TLS && message->tp != SIP_TRANSP_TLS) return false;
  return sa_cmp(&message->src, peer, SA_ADDR);
}

static inline int re_is_method(const struct sip_msg *message, const char *method) {
  return pl_strcmp(&message->met, method) == 0;
}

/* Gives a SIPS URI (RFC 3261 section 26.2.2) the form of a SIP one by TLS, for libre sends no request to the former. What its
   parameters say besides, libre does not need to find the way. The scheme stays where it is: libre knows by that what it has read
   out of a dialog's target. */
static inline void re_uri_by_tls(struct uri *uri) {
  static const char parameters[] = ";transport=tls";
  if (pl_strcasecmp(&uri->scheme, "sips")) return;
  uri->scheme.l = 3;
  uri->params = (struct pl){parameters, sizeof parameters - 1};
}

/* A session description with one audio stream at host:port. */
static inline int re_description_alloc(struct sdp_session **session, struct sdp_media **media,
                                       const char *host, uint16_t port, const char *profile) {
  struct sa address;
  int code = sa_set_str(&address, host, port);
  if (!code) code = sdp_session_alloc(session, &address);
  if (!code) code = sdp_media_add(media, *session, "audio", port, profile);
  if (!code) code = sdp_media_set_lattr(*media, true, "rtcp-mux", "");
  if (!code) code = sdp_media_set_lattr(*media, true, "rtcp-xr", "pkt-loss-rle");
  /* Without multiplexing the far side's RTCP still comes to the one port that is open. */
  if (!code) sdp_media_set_lport_rtcp(*media, port);
  return code;
}

/* Names another address for the media; port 0 keeps the one that it has. */
static inline int re_description_move(struct sdp_session *session, struct sdp_media *media,
                                      const char *host, uint16_t port) {
  struct sa address;
  int code = sa_set_str(&address, host, port);
  if (code) return code;
  sdp_session_set_laddr(session, &address);
  if (!port) return 0;
  sdp_media_set_lport(media, port);
  sdp_media_set_lport_rtcp(media, port);
  return 0;
}

/* The profiles of RTP that offers may have: in the open, and keyed by DTLS (RFC 5764 section 8). An answer has the offer's. */
static inline int re_description_allow_encryption(struct sdp_media *media) {
  return sdp_media_set_alt_protos(media, 6, "RTP/AVP", "RTP/AVPF", "UDP/TLS/RTP/SAVP",
                                  "UDP/TLS/RTP/SAVPF", "RTP/SAVP", "RTP/SAVPF");
}

/* True if the profile in use asks for encryption. */
static inline bool re_description_is_secure(const struct sdp_media *media) {
  const char *profile = sdp_media_proto(media);
  return profile && strstr(profile, "SAVP");
}

static inline int re_description_set(struct sdp_media *media, const char *name, const char *value) {
  return sdp_media_set_lattr(media, true, name, "%s", value);
}

static inline int re_description_add(struct sdp_media *media, const char *name, const char *value) {
  return sdp_media_set_lattr(media, false, name, "%s", value);
}

static inline void re_description_remove(struct sdp_media *media, const char *name) {
  sdp_media_del_lattr(media, name);
}

/* True if the profile in use asks for a handshake (RFC 5764). */
static inline bool re_description_wants_handshake(const struct sdp_media *media) {
  const char *profile = sdp_media_proto(media);
  return profile && strstr(profile, "UDP/TLS");
}

static inline int re_description_set_packet_time(struct sdp_media *media, unsigned milliseconds) {
  return sdp_media_set_lattr(media, true, "ptime", "%u", milliseconds);
}

static inline int re_description_add_format(struct sdp_media *media, const char *id,
                                            const char *name, uint32_t rate, uint8_t channels,
                                            const char *parameters) {
  if (parameters)
    return sdp_format_add(NULL, media, false, id, name, rate, channels, NULL, NULL, NULL, false,
                          "%s", parameters);
  return sdp_format_add(NULL, media, false, id, name, rate, channels, NULL, NULL, NULL, false,
                        NULL);
}

static inline bool re_is_event(const struct sdp_format *format) {
  return format->name && !str_casecmp(format->name, "telephone-event");
}

static inline bool re_is_redundancy(const struct sdp_format *format) {
  return format->name && !str_casecmp(format->name, "red");
}

/* The voice format that both sides have and that the far side prefers, of those behind `last` unless that is NULL. NULL if there is none. Of several numbers that an offer has
   for it, libre takes the last; the first counts (RFC 3264 section 6.1). */
static inline const struct sdp_format *re_description_agree(struct sdp_media *media,
                                                            const struct sdp_format *last,
                                                            bool is_offer,
                                                            int *local_payload_type,
                                                            const char **name) {
  const struct list *formats = sdp_media_format_lst(media, false);
  for (struct le *entry = last ? last->le.next : list_head(formats); entry; entry = entry->next) {
    const struct sdp_format *remote = (const struct sdp_format *)entry->data;
    /* A static payload type (RFC 3551) needs no name in the description; libre knows it by the number that ours has now. */
    const char *known = remote->pt == 0 ? "PCMU" : remote->pt == 8 ? "PCMA" : NULL;
    bool is_static = !remote->name && known;
    if ((!remote->sup && !is_static) || re_is_event(remote) || re_is_redundancy(remote)) continue;
    struct sdp_format *local =
        is_static ? sdp_media_format(media, true, NULL, -1, known, 8000, 1)
                  : sdp_media_format(media, true, NULL, -1, remote->name, (int32_t)remote->srate,
                                     (int8_t)remote->ch);
    if (!local) continue;
    if (is_static) local->sup = true;
    if (is_offer && local->pt != remote->pt) {
      char *former = local->id;
      local->id = (char *)mem_ref(remote->id);
      local->pt = remote->pt;
      mem_deref(former);
    }
    *local_payload_type = local->pt;
    *name = local->name;
    return remote;
  }
  return NULL;
}

/* The payload types of telephone events (RFC 4733) at a clock rate, false if a side has none. */
static inline bool re_description_agree_event(struct sdp_media *media, uint32_t rate,
                                              int *local_payload_type, int *remote_payload_type) {
  const struct sdp_format *local =
      sdp_media_format(media, true, NULL, -1, "telephone-event", (int32_t)rate, -1);
  const struct sdp_format *remote =
      sdp_media_format(media, false, NULL, -1, "telephone-event", (int32_t)rate, -1);
  if (!local || !remote) return false;
  *local_payload_type = local->pt;
  *remote_payload_type = remote->pt;
  return true;
}

/* The payload types of redundant payloads (RFC 2198) that bring a voice format, which the sides number so; false if a side
   has none. */
static inline bool re_description_agree_redundancy(struct sdp_media *media, uint32_t rate,
                                                   int local_voice, int remote_voice,
                                                   int *local_payload_type,
                                                   int *remote_payload_type) {
  const struct sdp_format *local =
      sdp_media_format(media, true, NULL, -1, "red", (int32_t)rate, -1);
  const struct sdp_format *remote =
      sdp_media_format(media, false, NULL, -1, "red", (int32_t)rate, -1);
  /* The formats in it, from the newest to the oldest: 96/96. */
  if (!local || !remote || !local->sup || !remote->sup || !remote->params ||
      atoi(remote->params) != remote_voice || local->pt == local_voice)
    return false;
  /* Our formats have taken the numbers of an offer, and what names them has to follow. */
  if (sdp_format_set_params((struct sdp_format *)local, "%d/%d", local_voice, local_voice))
    return false;
  *local_payload_type = local->pt;
  *remote_payload_type = remote->pt;
  return true;
}

/* All formats but these leave our description, so that an answer names one voice format. */
static inline void re_description_keep_only(struct sdp_media *media, const int *kept, size_t count) {
  const struct list *formats = sdp_media_format_lst(media, true);
  for (struct le *entry = list_head(formats); entry; entry = entry->next) {
    struct sdp_format *format = (struct sdp_format *)entry->data;
    bool is_kept = false;
    for (size_t i = 0; i < count; i++) is_kept |= format->pt == kept[i];
    if (!is_kept) format->sup = false;
  }
}

/* What of our formats an offer changes: whether they are common, and their numbers. */
struct re_formats {
  size_t count;
  struct {
    struct sdp_format *format;
    char *id;
    int pt;
    bool sup;
  } saved[16];
};

static inline void re_formats_save(struct re_formats *formats, struct sdp_media *media) {
  const struct list *own = sdp_media_format_lst(media, true);
  formats->count = 0;
  for (struct le *entry = list_head(own); entry && formats->count < 16; entry = entry->next) {
    struct sdp_format *format = (struct sdp_format *)entry->data;
    formats->saved[formats->count].format = format;
    formats->saved[formats->count].id = (char *)mem_ref(format->id);
    formats->saved[formats->count].pt = format->pt;
    formats->saved[formats->count].sup = format->sup;
    ++formats->count;
  }
}

/* Lets go what was saved; puts it back before, in its order, if an offer came to nothing. */
static inline void re_formats_end(struct re_formats *formats, struct sdp_media *media, bool is_undone) {
  struct list *own = (struct list *)sdp_media_format_lst(media, true);
  for (size_t i = 0; i < formats->count; i++) {
    struct sdp_format *format = formats->saved[i].format;
    if (is_undone) {
      list_unlink(&format->le);
      list_append(own, &format->le, format);
      char *other = format->id;
      format->id = formats->saved[i].id;
      format->pt = formats->saved[i].pt;
      format->sup = formats->saved[i].sup;
      mem_deref(other);
    } else {
      mem_deref(formats->saved[i].id);
    }
  }
  formats->count = 0;
}

static inline bool re_is_number_taken(const struct list *formats, const struct sdp_format *but, int number) {
  for (struct le *entry = list_head(formats); entry; entry = entry->next) {
    const struct sdp_format *format = (const struct sdp_format *)entry->data;
    if (format != but && format->pt == number) return true;
  }
  return false;
}

/* Notes in a ranking which formats are in use. */
static inline void re_formats_note_use(struct re_formats *ranking) {
  for (size_t i = 0; i < ranking->count; i++) ranking->saved[i].sup = ranking->saved[i].format->sup;
}

/* Offers every format again, in the order of `ranking`; those in use come first if `current_first`. A format whose number
   another one in use has taken gets a free one, and redundant payloads name the number of their voice. */
static inline int re_description_offer_all(struct sdp_media *media, const struct re_formats *ranking, bool current_first) {
  struct list *formats = (struct list *)sdp_media_format_lst(media, true);
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < ranking->count; i++) {
      struct sdp_format *format = ranking->saved[i].format;
      if (current_first ? ranking->saved[i].sup == (round == 1) : round == 1) continue;
      list_unlink(&format->le);
      list_append(formats, &format->le, format);
    }
  }
  const struct sdp_format *voice = NULL;
  for (struct le *entry = list_head(formats); entry; entry = entry->next) {
    struct sdp_format *format = (struct sdp_format *)entry->data;
    int number = format->pt;
    if (!format->sup && re_is_number_taken(formats, format, number))
      for (number = 96; number < 127 && re_is_number_taken(formats, format, number); number++)
        ;
    if (number != format->pt) {
      char *id = NULL;
      int code = re_sdprintf(&id, "%d", number);
      if (code) return code;
      mem_deref(format->id);
      format->id = id;
      format->pt = number;
    }
    format->sup = true;
    if (!str_casecmp(format->name, "opus")) voice = format;
  }
  for (struct le *entry = list_head(formats); voice && entry; entry = entry->next) {
    struct sdp_format *format = (struct sdp_format *)entry->data;
    if (!re_is_redundancy(format)) continue;
    int code = sdp_format_set_params(format, "%d/%d", voice->pt, voice->pt);
    if (code) return code;
  }
  return 0;
}

static inline int re_remote_address(const struct sdp_media *media, char *buffer, size_t capacity,
                                    uint16_t *port) {
  const struct sa *address = sdp_media_raddr(media);
  if (!sa_isset(address, SA_PORT)) return EADDRNOTAVAIL;
  return re_address_text(address, buffer, capacity, port);
}

static inline int re_remote_control_address(const struct sdp_media *media, char *buffer,
                                            size_t capacity, uint16_t *port) {
  struct sa address;
  sdp_media_raddr_rtcp(media, &address);
  if (!sa_isset(&address, SA_ALL)) return EADDRNOTAVAIL;
  return re_address_text(&address, buffer, capacity, port);
}

typedef bool(re_address_handler)(const char *host, int is_loopback, void *arg);

struct re_address_visit {
  re_address_handler *handler;
  void *arg;
};

static inline bool re_visit_address(const char *interface, const struct sa *address, void *arg) {
  struct re_address_visit *visit = (struct re_address_visit *)arg;
  char text[64];
  (void)interface;
  if (sa_is_linklocal(address) || sa_ntop(address, text, sizeof text)) return false;
  return visit->handler(text, sa_is_loopback(address), visit->arg);
}

/* Calls the handler with each address of this machine that is not link-local. */
static inline int re_each_local_address(re_address_handler *handler, void *arg) {
  struct re_address_visit visit = {handler, arg};
  return net_if_apply(re_visit_address, &visit);
}

/* An answer has rtcp-mux only if the offer had it (RFC 5761 section 5.1.1). */
static inline void re_description_forbid_multiplexing(struct sdp_media *media) {
  sdp_media_del_lattr(media, "rtcp-mux");
}

/* libre writes warnings to standard error; ours are typed errors instead. */
static inline void re_silence_debug(void) { dbg_init(DBG_EMERG, DBG_NONE); }

#endif
