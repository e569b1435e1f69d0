/* What connectivity checks need: STUN Binding messages, candidates of SDP, and the client of TURN servers. */
#ifndef CRE_ICE_H
#define CRE_ICE_H

enum { RE_USERNAME_SIZE = 520 };

/* A Binding message; what a message does not have is zero, and its flag is false. */
struct re_binding {
  uint16_t message_class;
  uint16_t error;
  uint8_t transaction[STUN_TID_SIZE];
  char username[RE_USERNAME_SIZE];
  bool has_priority, nominates, is_controlling, is_controlled, has_mapped, is_authentic;
  uint32_t priority;
  uint64_t tiebreaker;
  struct sa mapped;
};

static inline void re_binding_take(const struct stun_msg *message, struct re_binding *binding) {
  const struct stun_attr *attribute;
  if ((attribute = stun_msg_attr(message, STUN_ATTR_USERNAME)))
    str_ncpy(binding->username, attribute->v.username, sizeof binding->username);
  if ((attribute = stun_msg_attr(message, STUN_ATTR_PRIORITY))) {
    binding->has_priority = true;
    binding->priority = attribute->v.uint32;
  }
  if ((attribute = stun_msg_attr(message, STUN_ATTR_CONTROLLING))) {
    binding->is_controlling = true;
    binding->tiebreaker = attribute->v.uint64;
  }
  if ((attribute = stun_msg_attr(message, STUN_ATTR_CONTROLLED))) {
    binding->is_controlled = true;
    binding->tiebreaker = attribute->v.uint64;
  }
  binding->nominates = stun_msg_attr(message, STUN_ATTR_USE_CAND) != NULL;
  attribute = stun_msg_attr(message, STUN_ATTR_XOR_MAPPED_ADDR);
  if (!attribute) attribute = stun_msg_attr(message, STUN_ATTR_MAPPED_ADDR);
  if (attribute) {
    binding->has_mapped = true;
    binding->mapped = attribute->v.sa;
  }
  if ((attribute = stun_msg_attr(message, STUN_ATTR_ERR_CODE)))
    binding->error = attribute->v.err_code.code;
}

/* Reads a Binding message; `own` and `other` are the passwords that requests and responses are signed with, NULL for none.
   EBADMSG if it is none, or has something in it that has to be understood and is not. */
static inline int re_binding_decode(const uint8_t *bytes, size_t length, const char *own,
                                    const char *other, struct re_binding *binding) {
  struct stun_unknown_attr unknown;
  struct stun_msg *message = NULL;
  memset(binding, 0, sizeof *binding);
  struct mbuf *buffer = re_buffer_from(bytes, length);
  if (!buffer) return ENOMEM;
  int code = stun_msg_decode(&message, buffer, &unknown);
  if (!code) {
    binding->message_class = stun_msg_class(message);
    bool is_request = binding->message_class == STUN_CLASS_REQUEST;
    const char *password = is_request ? own : other;
    if (stun_msg_method(message) != STUN_METHOD_BINDING || !stun_msg_mcookie(message) ||
        unknown.typec || stun_msg_chk_fingerprint(message) == EBADMSG)
      code = EBADMSG;
    memcpy(binding->transaction, stun_msg_tid(message), STUN_TID_SIZE);
    re_binding_take(message, binding);
    binding->is_authentic =
        password && !stun_msg_chk_mi(message, (const uint8_t *)password, strlen(password));
  }
  mem_deref(message);
  mem_deref(buffer);
  return code;
}

/* Room in front of a message for what a relay's protocol puts there. */
enum { RE_RELAY_ROOM = 64 };

/* Writes a Binding message, signed with a password unless that is NULL; its first byte is at `RE_RELAY_ROOM`. */
static inline struct mbuf *re_binding_encode(const struct re_binding *binding,
                                             const char *password) {
  struct mbuf *buffer = mbuf_alloc(512);
  if (!buffer) return NULL;
  buffer->pos = buffer->end = RE_RELAY_ROOM;
  struct stun_errcode error = {binding->error, (char *)"Role Conflict"};
  bool is_error = binding->message_class == STUN_CLASS_ERROR_RESP;
  int code = stun_msg_encode(
      buffer, STUN_METHOD_BINDING, (uint8_t)binding->message_class, binding->transaction,
      is_error ? &error : NULL, (const uint8_t *)password, password ? strlen(password) : 0, true, 0,
      6, STUN_ATTR_USERNAME, binding->username[0] ? binding->username : NULL, STUN_ATTR_PRIORITY,
      binding->has_priority ? &binding->priority : NULL, STUN_ATTR_CONTROLLING,
      binding->is_controlling ? &binding->tiebreaker : NULL, STUN_ATTR_CONTROLLED,
      binding->is_controlled ? &binding->tiebreaker : NULL, STUN_ATTR_USE_CAND,
      binding->nominates ? (void *)binding : NULL, STUN_ATTR_XOR_MAPPED_ADDR,
      binding->has_mapped ? &binding->mapped : NULL);
  buffer->pos = RE_RELAY_ROOM;
  return code ? (struct mbuf *)mem_deref(buffer) : buffer;
}

/* Writes the value of an SDP candidate (RFC 8839 section 5.1); `related` is NULL or has a port. */
static inline int re_candidate_text(char *text, size_t capacity, const char *foundation,
                                    uint32_t priority, const char *type, const struct sa *address,
                                    const struct sa *related) {
  struct ice_cand_attr candidate;
  memset(&candidate, 0, sizeof candidate);
  str_ncpy(candidate.foundation, foundation, sizeof candidate.foundation);
  candidate.compid = ICE_COMPID_RTP;
  candidate.proto = IPPROTO_UDP;
  candidate.prio = priority;
  candidate.addr = *address;
  candidate.type = ice_cand_name2type(type);
  if (related) candidate.rel_addr = *related;
  return re_snprintf(text, capacity, "%H", ice_cand_attr_encode, &candidate) < 0 ? ENOMEM : 0;
}

/* Reads one that is for RTP over UDP; an errno for another. */
static inline int re_candidate_parse(const char *text, struct sa *address, uint32_t *priority,
                                     const char **type) {
  struct ice_cand_attr candidate;
  int code = ice_cand_attr_decode(&candidate, text);
  if (code) return code;
  if (candidate.proto != IPPROTO_UDP || candidate.compid != ICE_COMPID_RTP) return EPROTONOSUPPORT;
  *address = candidate.addr;
  *priority = candidate.prio;
  *type = ice_cand_type2name(candidate.type);
  return *type ? 0 : EPROTONOSUPPORT;
}

/* A UDP socket whose datagrams have room in front of them. */
static inline int re_relay_socket(struct udp_sock **socket, const struct sa *local,
                                  udp_recv_h *handler, void *arg) {
  int code = udp_listen(socket, local, handler, arg);
  if (code) return code;
  udp_rxbuf_presz_set(*socket, RE_RELAY_ROOM);
  udp_rxsz_set(*socket, 4096);
  return 0;
}

/* The length of the message at the start of a TURN connection's bytes (RFC 8656 section 12), with its padding; 0 if there is not
   even a header. */
static inline size_t re_relay_frame(const uint8_t *bytes, size_t length) {
  if (length < 4) return 0;
  size_t body = (size_t)bytes[2] << 8 | bytes[3];
  return bytes[0] & 0xC0 ? (4 + body + 3) / 4 * 4 : STUN_HEADER_SIZE + body;
}

/* Copies bytes into a buffer that has room in front of them. */
static inline struct mbuf *re_relay_buffer(const uint8_t *bytes, size_t length) {
  struct mbuf *buffer = mbuf_alloc(RE_RELAY_ROOM + length + 4);
  if (!buffer) return NULL;
  buffer->pos = buffer->end = RE_RELAY_ROOM;
  if (mbuf_write_mem(buffer, bytes, length)) return (struct mbuf *)mem_deref(buffer);
  buffer->pos = RE_RELAY_ROOM;
  return buffer;
}

/* One timer of libre's, in memory of its own. */
static inline struct tmr *re_timer_alloc(void) {
  return (struct tmr *)mem_zalloc(sizeof(struct tmr), NULL);
}

#endif
