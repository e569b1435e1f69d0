/* Call transfer: REFER with its subscription (RFC 3515), and INVITE with Replaces (RFC 3891). */
#ifndef CRE_TRANSFER_H
#define CRE_TRANSFER_H

static inline int re_event_socket(struct sipevent_sock **socket, struct sip *sip) {
  return sipevent_listen(socket, sip, 32, 32, NULL, NULL);
}

/* Asks the far side of a session to call another one. */
static inline int re_refer(struct sipsub **subscription, struct sipevent_sock *socket,
                           struct sipsess *session, const char *contact_user,
                           struct re_credentials *credentials, const char *target,
                           const char *referrer, sipsub_notify_h *notify_handler,
                           sipsub_close_h *close_handler, void *arg) {
  return sipevent_drefer(subscription, socket, sipsess_dialog(session), contact_user,
                         re_give_credentials, credentials, credentials != NULL, notify_handler,
                         close_handler, arg, "Refer-To: <%s>\r\nReferred-By: <%s>\r\n", target,
                         referrer);
}

/* The status in a message of the kind `message/sipfrag` (RFC 3420); 0 if there is none. */
static inline uint16_t re_fragment_status(const struct sip_msg *message) {
  struct pl status;
  if (!message || !message->mb) return 0;
  if (re_regex((const char *)mbuf_buf(message->mb), mbuf_get_left(message->mb), "SIP/2.0 [0-9]3",
               &status))
    return 0;
  return (uint16_t)pl_u32(&status);
}

/* Takes a REFER, and promises reports for an hour: a target may ring for long. */
static inline int re_accept_refer(struct sipnot **notifier, struct sipevent_sock *socket,
                                  const struct sip_msg *message, struct sipsess *session,
                                  const char *contact_user, struct re_credentials *credentials,
                                  sipnot_close_h *close_handler, void *arg) {
  return sipevent_accept(notifier, socket, message, sipsess_dialog(session), NULL, 202, "Accepted",
                         60, 3600, 3600, contact_user, "message/sipfrag;version=2.0",
                         re_give_credentials, credentials, credentials != NULL, close_handler, arg,
                         NULL);
}

/* Reports what has become of the call that was asked for; a final status ends the reports. */
static inline int re_report_refer(struct sipnot *notifier, uint16_t status, const char *reason) {
  return sipevent_notifyf(notifier, NULL,
                          status < 200 ? SIPEVENT_ACTIVE : SIPEVENT_TERMINATED,
                          SIPEVENT_NORESOURCE, 0, "SIP/2.0 %u %s\r\n", status, reason);
}

/* Copies the URI of a Refer-To header; empty if there is none. */
static inline void re_refer_target(const struct sip_msg *message, char *buffer, size_t capacity) {
  const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_REFER_TO);
  struct sip_addr address;
  buffer[0] = 0;
  if (header && !sip_addr_decode(&address, &header->val) && address.auri.l < capacity)
    re_copy_pl(&address.auri, buffer, capacity);
}

struct re_choice {
  struct pl address;
  double preference;
};

static inline bool re_visit_choice(const struct sip_hdr *header, const struct sip_msg *message, void *arg) {
  struct re_choice *choice = (struct re_choice *)arg;
  struct sip_addr contact;
  struct pl preference;
  (void)message;
  if (sip_addr_decode(&contact, &header->val)) return false;
  double value = msg_param_decode(&contact.params, "q", &preference) ? 1 : pl_float(&preference);
  if (!pl_isset(&choice->address) || value > choice->preference) {
    choice->address = contact.auri;
    choice->preference = value;
  }
  return false;
}

/* The address that the far side of a redirection prefers (RFC 3261 section 20.10, `q`); empty if it names none. */
static inline struct pl re_preferred_contact(const struct sip_msg *message) {
  struct re_choice choice;
  memset(&choice, 0, sizeof choice);
  sip_msg_hdr_apply(message, true, SIP_HDR_CONTACT, re_visit_choice, &choice);
  return choice.address;
}

/* Copies the value of a Replaces header; empty if there is none. */
static inline void re_replaced(const struct sip_msg *message, char *buffer, size_t capacity) {
  const struct sip_hdr *header = sip_msg_hdr(message, SIP_HDR_REPLACES);
  buffer[0] = 0;
  if (header && header->val.l < capacity) re_copy_pl(&header->val, buffer, capacity);
}

#endif
