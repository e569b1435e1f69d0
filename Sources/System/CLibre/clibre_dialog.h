/* What libre leaves to its users within a call's dialog: answers of further phones, and session timers. */
#ifndef CRE_DIALOG_H
#define CRE_DIALOG_H

struct re_fork {
  struct mbuf *routes;
  struct uri hop;
  bool has_hop;
};

static inline bool re_visit_fork_route(const struct sip_hdr *header, const struct sip_msg *message,
                                       void *arg) {
  struct re_fork *fork = (struct re_fork *)arg;
  struct sip_addr route;
  (void)message;
  if (sip_addr_decode(&route, &header->val)) return false;
  if (!fork->has_hop) fork->hop = route.uri;
  fork->has_hop = true;
  mbuf_printf(fork->routes, "Route: %r\r\n", &header->val);
  return false;
}

/* Sends a request to the phone whose answer this is. */
static inline int re_send_to_fork(struct sip *sip, const struct sip_msg *answer,
                                  const struct re_fork *fork, const char *uri, const char *method,
                                  uint32_t sequence) {
  bool is_stateful = strcmp(method, "ACK") != 0;
  return sip_requestf(NULL, sip, is_stateful, method, uri, &fork->hop, NULL, NULL, NULL, NULL,
                      "%bTo: %r\r\nFrom: %r\r\nCall-ID: %r\r\nCSeq: %u %s\r\n"
                      "Content-Length: 0\r\n\r\n",
                      fork->routes->buf, fork->routes->end, &answer->to.val, &answer->from.val,
                      &answer->callid, sequence, method);
}

/* Ends the call with a phone that has answered as well as the one that the session is with (RFC 3261 section 13.2.2.4). */
static inline int re_end_fork(struct sip *sip, const struct sip_msg *answer) {
  const struct sip_hdr *header = sip_msg_hdr(answer, SIP_HDR_CONTACT);
  struct sip_addr contact;
  struct re_fork fork;
  char uri[512];
  int code = header ? sip_addr_decode(&contact, &header->val) : EBADMSG;
  if (code || contact.auri.l >= sizeof uri) return EBADMSG;
  re_copy_pl(&contact.auri, uri, sizeof uri);
  fork.routes = mbuf_alloc(256);
  if (!fork.routes) return ENOMEM;
  fork.hop = contact.uri;
  fork.has_hop = false;
  /* The way back begins with what was named last. */
  sip_msg_hdr_apply(answer, false, SIP_HDR_RECORD_ROUTE, re_visit_fork_route, &fork);
  code = re_send_to_fork(sip, answer, &fork, uri, "ACK", answer->cseq.num);
  if (!code) code = re_send_to_fork(sip, answer, &fork, uri, "BYE", answer->cseq.num + 1);
  mem_deref(fork.routes);
  return code;
}

/* Copies the value of a header of a message, by its number or its name; empty if there is none. */
static inline void re_header(const struct sip_msg *message, enum sip_hdrid number, char *buffer,
                             size_t capacity) {
  const struct sip_hdr *header = sip_msg_hdr(message, number);
  buffer[0] = 0;
  if (header && header->val.l < capacity) re_copy_pl(&header->val, buffer, capacity);
}

struct re_caller_search {
  char *address, *name;
  size_t capacity;
  bool is_number;
};

static inline bool re_visit_caller(const struct sip_hdr *header, const struct sip_msg *message,
                                   void *arg) {
  struct re_caller_search *search = (struct re_caller_search *)arg;
  struct sip_addr caller;
  (void)message;
  if (sip_addr_decode(&caller, &header->val) || caller.auri.l >= search->capacity) return false;
  bool is_found = search->is_number
                      ? !pl_strcasecmp(&caller.uri.scheme, "tel")
                      : !pl_strcasecmp(&caller.uri.scheme, "sip") || !pl_strcasecmp(&caller.uri.scheme, "sips");
  if (!is_found) return false;
  re_copy_pl(&caller.auri, search->address, search->capacity);
  re_copy_pl(&header->val, search->name, search->capacity);
  return true;
}

/* A party's URI and name as the server says (RFC 3325): a SIP address, else a telephone number if that will do; false if it
   names none. */
static inline bool re_asserted_party(const struct sip_msg *message, bool may_be_number, char *address, char *name,
                                     size_t capacity) {
  struct re_caller_search search = {address, name, capacity, false};
  if (sip_msg_xhdr_apply(message, true, "P-Asserted-Identity", re_visit_caller, &search)) return true;
  search.is_number = true;
  return may_be_number && sip_msg_xhdr_apply(message, true, "P-Asserted-Identity", re_visit_caller, &search) != NULL;
}

/* Refreshes a session (RFC 4028, RFC 3311) with a contact of this user. */
static inline int re_update(struct sip_request **request, struct sip *sip, struct sipsess *session,
                            sip_send_h *send_handler, sip_resp_h *response_handler, void *arg,
                            const char *headers) {
  return sip_drequestf(request, sip, true, "UPDATE", sipsess_dialog(session), 0, NULL, send_handler,
                       response_handler, arg, "%sContent-Length: 0\r\n\r\n", headers);
}

/* Ends a dialog at once, whatever is open in it (RFC 3261 section 15): libre's own goodbye waits for the answer to a re-INVITE. */
static inline int re_say_goodbye(struct sip *sip, struct sipsess *session) {
  return sip_drequestf(NULL, sip, true, "BYE", sipsess_dialog(session), 0, NULL, NULL, NULL, NULL,
                       "Content-Length: 0\r\n\r\n");
}

/* Answers a request with further headers, and with a description unless that is NULL. */
static inline int re_reply_described(struct sip *sip, const struct sip_msg *message,
                                     const char *user, const char *headers,
                                     struct mbuf *description) {
  struct sip_contact contact;
  sip_contact_set(&contact, user, &message->dst, message->tp);
  return sip_treplyf(NULL, NULL, sip, message, false, 200, "OK",
                     "%H%s%sContent-Length: %zu\r\n\r\n%b", sip_contact_print, &contact, headers,
                     description ? "Content-Type: application/sdp\r\n" : "",
                     description ? mbuf_get_left(description) : (size_t)0,
                     description ? mbuf_buf(description) : NULL,
                     description ? mbuf_get_left(description) : (size_t)0);
}

/* Refuses a session whose interval is too short (RFC 4028 section 5). */
static inline int re_refuse_interval(struct sip *sip, const struct sip_msg *message,
                                     uint32_t seconds) {
  return sip_treplyf(NULL, NULL, sip, message, false, 422, "Session Interval Too Small",
                     "Min-SE: %u\r\nContent-Length: 0\r\n\r\n", seconds);
}

#endif
