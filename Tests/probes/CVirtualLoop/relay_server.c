#include "virtual_loop.h"

#include <re.h>
#include <stdarg.h>
#include <string.h>

enum { MOST_CHANNELS = 16, MOST_UNHEARD = 8 };

static const char realm[] = "relay", nonce[] = "once";

struct server {
  struct udp_sock *socket;
  uint8_t key[MD5_SIZE];
  struct list allocations;
  uint16_t unheard[MOST_UNHEARD];
  unsigned unheard_count;
};

/* One relayed address, with permissions for the hosts of channels alone: the client asks for no others. */
struct allocation {
  struct le le;
  struct server *server;
  struct sa client, address;
  struct udp_sock *socket;
  uint8_t transaction[STUN_TID_SIZE];
  struct {
    uint16_t number;
    struct sa peer;
  } channels[MOST_CHANNELS];
};

static struct server *current;

static void free_allocation(void *pointer) {
  struct allocation *allocation = pointer;
  list_unlink(&allocation->le);
  mem_deref(allocation->socket);
}

static struct allocation *allocation_of(struct server *server, const struct sa *client) {
  for (struct le *le = list_head(&server->allocations); le; le = le->next) {
    struct allocation *allocation = le->data;
    if (sa_cmp(&allocation->client, client, SA_ALL)) return allocation;
  }
  return NULL;
}

static bool is_permitted(const struct allocation *allocation, const struct sa *peer) {
  for (int place = 0; place < MOST_CHANNELS; place++)
    if (allocation->channels[place].number && sa_cmp(&allocation->channels[place].peer, peer, SA_ADDR)) return true;
  return false;
}

static void got_from_peer(const struct sa *peer, struct mbuf *message, void *pointer) {
  struct allocation *allocation = pointer;
  for (int place = 0; place < MOST_CHANNELS; place++) {
    if (!allocation->channels[place].number || !sa_cmp(&allocation->channels[place].peer, peer, SA_ALL)) continue;
    struct mbuf *framed = mbuf_alloc(mbuf_get_left(message) + 4);
    mbuf_write_u16(framed, htons(allocation->channels[place].number));
    mbuf_write_u16(framed, htons((uint16_t)mbuf_get_left(message)));
    mbuf_write_mem(framed, mbuf_buf(message), mbuf_get_left(message));
    mbuf_set_pos(framed, 0);
    udp_send(allocation->server->socket, &allocation->client, framed);
    mem_deref(framed);
    return;
  }
  if (!is_permitted(allocation, peer)) return;
  stun_indication(IPPROTO_UDP, allocation->server->socket, &allocation->client, 0, STUN_METHOD_DATA, NULL, 0, false, 2,
                  STUN_ATTR_XOR_PEER_ADDR, peer, STUN_ATTR_DATA, message);
}

static void bind_channel(struct allocation *allocation, uint16_t number, const struct sa *peer) {
  for (int place = 0; place < MOST_CHANNELS; place++) {
    uint16_t taken = allocation->channels[place].number;
    if (taken && taken != number) continue;
    allocation->channels[place].number = number;
    allocation->channels[place].peer = *peer;
    return;
  }
}

/* Not by stun_reply(), which the product replaces. */
static void reply(struct server *server, const struct sa *client, const struct stun_msg *request, uint32_t count, ...) {
  struct mbuf *message = mbuf_alloc(256);
  va_list attributes;
  va_start(attributes, count);
  stun_msg_vencode(message, stun_msg_method(request), STUN_CLASS_SUCCESS_RESP, stun_msg_tid(request), NULL, server->key,
                   sizeof server->key, false, 0, count, attributes);
  va_end(attributes);
  mbuf_set_pos(message, 0);
  udp_send(server->socket, client, message);
  mem_deref(message);
}

static void answer(struct server *server, const struct sa *client, const struct stun_msg *request) {
  struct allocation *allocation = allocation_of(server, client);
  const struct stun_attr *peer = stun_msg_attr(request, STUN_ATTR_XOR_PEER_ADDR);
  const struct stun_attr *channel = stun_msg_attr(request, STUN_ATTR_CHANNEL_NUMBER);
  const struct stun_attr *lifetime = stun_msg_attr(request, STUN_ATTR_LIFETIME);
  uint32_t seconds = lifetime ? lifetime->v.lifetime : TURN_DEFAULT_LIFETIME;
  if (!stun_msg_attr(request, STUN_ATTR_MSG_INTEGRITY) ||
      stun_msg_chk_mi(request, server->key, sizeof server->key)) {
    stun_ereply(IPPROTO_UDP, server->socket, client, 0, request, 401, stun_reason_401, NULL, 0, false, 2,
                STUN_ATTR_REALM, realm, STUN_ATTR_NONCE, nonce);
    return;
  }
  uint16_t refusal = 0;
  switch (stun_msg_method(request)) {
  case STUN_METHOD_ALLOCATE:
    if (allocation && memcmp(allocation->transaction, stun_msg_tid(request), STUN_TID_SIZE)) refusal = 437;
    if (!allocation) {
      allocation = mem_zalloc(sizeof *allocation, free_allocation);
      allocation->server = server;
      allocation->client = *client;
      memcpy(allocation->transaction, stun_msg_tid(request), STUN_TID_SIZE);
      list_append(&server->allocations, &allocation->le, allocation);
      /* Of another host than the clients: checks of a host that does not answer are counted. */
      sa_set_str(&allocation->address, "127.0.0.2", 0);
      if (udp_listen(&allocation->socket, &allocation->address, got_from_peer, allocation) ||
          udp_local_get(allocation->socket, &allocation->address))
        refusal = 508;
    }
    if (refusal) break;
    reply(server, client, request, 3, STUN_ATTR_XOR_RELAY_ADDR, &allocation->address, STUN_ATTR_XOR_MAPPED_ADDR, client,
          STUN_ATTR_LIFETIME, &seconds);
    return;
  case STUN_METHOD_REFRESH:
    if (!allocation) refusal = 437;
    if (allocation && seconds == 0) mem_deref(allocation);
    break;
  case STUN_METHOD_CHANBIND:
    if (!allocation || !peer || !channel) refusal = 400;
    else bind_channel(allocation, channel->v.channel_number, &peer->v.xor_peer_addr);
    break;
  default:
    refusal = 400;
  }
  if (refusal)
    stun_ereply(IPPROTO_UDP, server->socket, client, 0, request, refusal, "Refused", server->key, sizeof server->key,
                false, 0);
  else
    reply(server, client, request, 1, STUN_ATTR_LIFETIME, &seconds);
}

static void forward(struct server *server, const struct sa *client, struct mbuf *message) {
  struct allocation *allocation = allocation_of(server, client);
  uint16_t number = ntohs(mbuf_read_u16(message)), length = ntohs(mbuf_read_u16(message));
  if (!allocation || length > mbuf_get_left(message)) return;
  mbuf_set_end(message, message->pos + length);
  for (int place = 0; place < MOST_CHANNELS; place++)
    if (allocation->channels[place].number == number)
      udp_send(allocation->socket, &allocation->channels[place].peer, message);
}

static bool is_unheard(struct server *server, uint16_t port) {
  for (unsigned place = 0; place < server->unheard_count; place++) {
    if (!server->unheard[place]) server->unheard[place] = port;
    if (server->unheard[place] == port) return true;
  }
  return false;
}

static void got_from_client(const struct sa *client, struct mbuf *message, void *pointer) {
  struct server *server = pointer;
  if (mbuf_get_left(message) < 4 || is_unheard(server, sa_port(client))) return;
  if ((mbuf_buf(message)[0] & 0xC0) == 0x40) {
    forward(server, client, message);
    return;
  }
  struct stun_msg *found = NULL;
  if (stun_msg_decode(&found, message, NULL)) return;
  if (stun_msg_class(found) == STUN_CLASS_REQUEST) answer(server, client, found);
  const struct stun_attr *peer = stun_msg_attr(found, STUN_ATTR_XOR_PEER_ADDR);
  const struct stun_attr *data = stun_msg_attr(found, STUN_ATTR_DATA);
  struct allocation *allocation = allocation_of(server, client);
  if (stun_msg_method(found) == STUN_METHOD_SEND && allocation && peer && data &&
      is_permitted(allocation, &peer->v.xor_peer_addr))
    udp_send(allocation->socket, &peer->v.xor_peer_addr, (struct mbuf *)&data->v.data);
  mem_deref(found);
}

static void free_server(void *pointer) {
  struct server *server = pointer;
  list_flush(&server->allocations);
  mem_deref(server->socket);
}

uint16_t relay_server_begin(const char *user, const char *password, unsigned unheard) {
  relay_server_end();
  current = mem_zalloc(sizeof *current, free_server);
  current->unheard_count = unheard < MOST_UNHEARD ? unheard : MOST_UNHEARD;
  struct sa local;
  sa_set_str(&local, "127.0.0.1", 0);
  if (md5_printf(current->key, "%s:%s:%s", user, realm, password) ||
      udp_listen(&current->socket, &local, got_from_client, current) || udp_local_get(current->socket, &local)) {
    relay_server_end();
    return 0;
  }
  return sa_port(&local);
}

void relay_server_end(void) { current = mem_deref(current); }
