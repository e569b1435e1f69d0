/* Accounts at SIP servers: REGISTER requests, what their responses say, and the records of the DNS that name servers. */
#ifndef CRE_ACCOUNTS_H
#define CRE_ACCOUNTS_H

/* Sends a REGISTER (RFC 3261 section 10.2) to the server that `route` leads to. `head` is the part of the message that does not
   change from one try to the next. */
static inline int re_register(struct sip_request **request, struct sip *sip, const char *registrar,
                              const char *route, struct sip_auth *auth, const char *head,
                              uint32_t sequence, uint32_t expires, sip_send_h *send_handler,
                              sip_resp_h *response_handler, void *arg) {
  struct uri target;
  struct pl text;
  pl_set_str(&text, route);
  int code = uri_decode(&target, &text);
  if (code) return code;
  return sip_requestf(request, sip, true, "REGISTER", registrar, &target, auth, send_handler,
                      response_handler, arg,
                      "%s"
                      "CSeq: %u REGISTER\r\n"
                      "Expires: %u\r\n"
                      "Content-Length: 0\r\n\r\n",
                      head, sequence, expires);
}

/* Writes where this side is reached; `parameters` begins with a semicolon, or is empty. */
static inline int re_write_contact(struct mbuf *message, const char *user, const struct sa *address,
                                   enum sip_transp transport, const char *parameters) {
  return mbuf_printf(message, "Contact: <sip:%s@%J%s>%s\r\n", user, address,
                     sip_transp_param(transport), parameters);
}

/* The realm of the challenge in a 401 or 407; empty if there is none. */
static inline void re_challenge_realm(const struct sip_msg *message, char *buffer,
                                      size_t capacity) {
  struct httpauth_digest_chall challenge;
  const struct sip_hdr *header = sip_msg_hdr(
      message, message->scode == 401 ? SIP_HDR_WWW_AUTHENTICATE : SIP_HDR_PROXY_AUTHENTICATE);
  buffer[0] = 0;
  if (header && !httpauth_digest_challenge_decode(&challenge, &header->val))
    re_copy_pl(&challenge.realm, buffer, capacity);
}

/* A number of seconds; what is none, as a date of RFC 2543, counts as an hour (RFC 3261 section 20.19). */
static inline int64_t re_lasting(const struct pl *text) {
  for (size_t place = 0; place < text->l; place++)
    if (text->p[place] < '0' || text->p[place] > '9') return 3600;
  return text->l ? pl_u32(text) : 3600;
}

struct re_contact_search {
  const char *user, *instance;
  const struct sa *address;
  /* Of the contact with our instance (RFC 5626), of the one with our address, and the shortest of those of the user that say no
     instance: a server may write its own address into the contact. Then the last one that says no instance, of any user,
     and the number of all. */
  int64_t own, exact, shortest, last;
  size_t count;
};

static inline bool re_visit_contact(const struct sip_hdr *header, const struct sip_msg *message,
                                    void *arg) {
  struct re_contact_search *search = (struct re_contact_search *)arg;
  struct sip_addr contact;
  struct pl expires;
  struct sa named;
  if (sip_addr_decode(&contact, &header->val)) return false;
  int64_t seconds = -1;
  search->count++;
  if (!msg_param_decode(&contact.params, "expires", &expires)) seconds = re_lasting(&expires);
  else if (pl_isset(&message->expires)) seconds = re_lasting(&message->expires);
  if (seconds < 0) return false;
  struct pl instance;
  bool has_instance = !msg_param_decode(&contact.params, "+sip.instance", &instance);
  /* libre takes the quotes off some values. */
  if (has_instance && instance.l > 1 && instance.p[0] == '"') instance.p++, instance.l -= 2;
  /* What has been taken back says nothing about the one that is kept. */
  if (has_instance && !pl_strcmp(&instance, search->instance) && (search->own <= 0 || (seconds && seconds < search->own)))
    search->own = seconds;
  if (!has_instance) search->last = seconds;
  if (has_instance || pl_strcmp(&contact.uri.user, search->user)) return false;
  if (search->shortest <= 0 || (seconds && seconds < search->shortest)) search->shortest = seconds;
  if (!sa_set(&named, &contact.uri.host, contact.uri.port ? contact.uri.port : SIP_PORT) &&
      sa_cmp(&named, search->address, SA_ALL))
    search->exact = seconds;
  return false;
}

/* For how many seconds a response says that a contact is registered; -1 if it names no time for it. `instance` has no quotes. */
static inline int64_t re_registered_seconds(const struct sip_msg *message, const char *user, const char *instance,
                                            const struct sa *address) {
  struct re_contact_search search = {user, instance, address, -1, -1, -1, -1, 0};
  sip_msg_hdr_apply(message, true, SIP_HDR_CONTACT, re_visit_contact, &search);
  if (search.own >= 0) return search.own;
  if (search.exact >= 0 || search.shortest >= 0) return search.exact >= 0 ? search.exact : search.shortest;
  /* A server that rewrites contacts may list ours alone, and some list none (RFC 3261 section 10.3). */
  if (!search.count && pl_isset(&message->expires)) return re_lasting(&message->expires);
  return search.count == 1 ? search.last : -1;
}

/* True if the server saw the request come from another address than it was sent from: a router has translated it. */
static inline bool re_is_translated(const struct sip_msg *response, const struct sa *own) {
  struct pl text;
  struct sa seen;
  uint16_t port = sa_port(own);
  if (!msg_param_decode(&response->via.params, "rport", &text) && pl_isset(&text)) port = (uint16_t)pl_u32(&text);
  if (msg_param_decode(&response->via.params, "received", &text)) return port != sa_port(own);
  if (sa_set(&seen, &text, port)) return false;
  return !sa_cmp(&seen, own, SA_ALL);
}

struct re_route_search {
  size_t left;
  char *buffer;
  size_t capacity;
};

static inline bool re_visit_route(const struct sip_hdr *header, const struct sip_msg *message,
                                  void *arg) {
  struct re_route_search *search = (struct re_route_search *)arg;
  struct sip_addr address;
  (void)message;
  if (sip_addr_decode(&address, &header->val) || address.auri.l >= search->capacity) return false;
  if (search->left--) return false;
  re_copy_pl(&address.auri, search->buffer, search->capacity);
  return true;
}

/* Writes the URI of one of a response's service routes (RFC 3608), which count from 0; false if there are not so many. */
static inline bool re_service_route(const struct sip_msg *message, size_t index, char *buffer,
                                    size_t capacity) {
  struct re_route_search search = {index, buffer, capacity};
  return sip_msg_hdr_apply(message, true, SIP_HDR_SERVICE_ROUTE, re_visit_route, &search) != NULL;
}

/* What keeps a router's translation alive, and a connection open (RFC 5626 section 3.5.1). */
static inline int re_send_keepalive(struct sip *sip, const char *route, enum sip_transp transport) {
  struct uri target;
  struct sa destination;
  struct pl text;
  pl_set_str(&text, route);
  int code = uri_decode(&target, &text);
  if (!code) code = sa_set(&destination, &target.host, target.port);
  if (code) return code;
  struct mbuf *buffer = mbuf_alloc(4);
  if (!buffer) return ENOMEM;
  code = mbuf_write_mem(buffer, (const uint8_t *)"\r\n\r\n", 4);
  buffer->pos = 0;
  if (!code) code = sip_send(sip, NULL, transport, &destination, buffer);
  mem_deref(buffer);
  return code;
}

/* Subscribes to how many messages wait for an account (RFC 3842). */
static inline int re_subscribe_messages(struct sipsub **subscription, struct sipevent_sock *socket,
                                        const char *address, const char *user,
                                        const char *routes[], uint32_t route_count,
                                        struct re_credentials *credentials,
                                        sipsub_notify_h *notify_handler,
                                        sipsub_close_h *close_handler, void *arg) {
  return sipevent_subscribe(subscription, socket, address, NULL, address, "message-summary", NULL,
                            3600, user, routes, route_count, re_give_credentials, credentials,
                            credentials != NULL, NULL, notify_handler, close_handler, arg,
                            "Accept: application/simple-message-summary\r\n");
}

/* How many new voice messages a report names; 1 if it only says that there are some, -1 if it says nothing. */
static inline int64_t re_waiting_messages(const struct sip_msg *message) {
  struct pl count, word, blank;
  const char *text = message->mb ? (const char *)mbuf_buf(message->mb) : NULL;
  size_t length = text ? mbuf_get_left(message->mb) : 0;
  if (!length) return -1;
  if (!re_regex(text, length, "Voice-Message[ \t]*:[ \t]*[0-9]+[ \t]*/", &blank, &blank, &count, &blank)) return pl_u32(&count);
  if (re_regex(text, length, "Messages-Waiting[ \t]*:[ \t]*[a-z]+", &blank, &blank, &word)) return -1;
  return !pl_strcasecmp(&word, "yes");
}

/* Calls `handler` once the connection that a message came over has gone. What is sent over it to keep it alive has to be
   acknowledged by the far side's kernel within 20 s. */
static inline void re_watch_connection(struct sip_keepalive **watch, struct sip *sip,
                                       const struct sip_msg *message, sip_keepalive_h *handler,
                                       void *arg) {
  /* libre's own question wants an answer, which not every server gives: it never comes to that. */
  const uint32_t never = 4000000;
  unsigned milliseconds = 20000;
  struct tcp_conn *connection = sip_msg_tcpconn(message);
  if (!sip || !connection) return;
  setsockopt(tcp_conn_fd(connection), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds,
             sizeof milliseconds);
  sip_keepalive_start(watch, sip, message, never, handler, arg);
}

/* One record of a server's location, with the fields of its type alone. */
struct re_location {
  uint16_t type;
  uint16_t order, preference;
  uint16_t priority, weight, port;
  const char *flags, *service, *name;
};

/* The records of an answer, up to `capacity`; the texts live as long as the answer. */
static inline size_t re_locations(struct list *answers, uint16_t type, struct re_location *records,
                                  size_t capacity) {
  size_t count = 0;
  for (struct le *entry = list_head(answers); entry && count < capacity; entry = entry->next) {
    const struct dnsrr *record = (const struct dnsrr *)entry->data;
    if (record->type != type) continue;
    struct re_location *location = &records[count];
    memset(location, 0, sizeof *location);
    location->type = type;
    if (type == DNS_TYPE_NAPTR) {
      location->order = record->rdata.naptr.order;
      location->preference = record->rdata.naptr.pref;
      location->flags = record->rdata.naptr.flags;
      location->service = record->rdata.naptr.services;
      location->name = record->rdata.naptr.replace;
    } else if (type == DNS_TYPE_SRV) {
      location->priority = record->rdata.srv.pri;
      location->weight = record->rdata.srv.weight;
      location->port = record->rdata.srv.port;
      location->name = record->rdata.srv.target;
    } else {
      continue;
    }
    if (location->name) ++count;
  }
  return count;
}

#endif
