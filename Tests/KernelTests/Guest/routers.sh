# Two phones behind a router each, and the servers of the internet between them. Run by dash.
set -u

server=198.51.100.1
for module in crc32c_generic nf_tables nft_chain_nat nft_masq nft_nat nft_ct; do modprobe $module; done

# One host behind one router: side NUMBER, with networks of its own on both sides of the router.
side() {
  host=host$1 router=router$1
  ip netns add $host
  ip netns add $router
  ip link add lan netns $host type veth peer name lan netns $router
  ip link add wan netns $router type veth peer name wan$1 netns internet
  ip -n $host addr add 192.168.$1.2/24 dev lan
  ip -n $router addr add 192.168.$1.1/24 dev lan
  ip -n $router addr add 203.0.113.$1/32 dev wan
  ip -n internet addr add 203.0.113.254/32 dev wan$1
  for link in "$host lan" "$host lo" "$router lan" "$router wan" "$router lo" "internet wan$1"; do
    ip -n ${link% *} link set ${link#* } up
  done
  ip -n $host route add default via 192.168.$1.1
  ip -n $router route add 203.0.113.254 dev wan
  ip -n $router route add default via 203.0.113.254
  ip -n internet route add 203.0.113.$1 dev wan$1
  ip netns exec $router sysctl -qw net.ipv4.ip_forward=1
  # To the servers and back 40 ms, to the other side 80.
  ip netns exec $router tc qdisc add dev wan root netem delay 20ms
  ip netns exec internet tc qdisc add dev wan$1 root netem delay 20ms
}

# What the router of a side does with what comes through it.
route() {
  outside=203.0.113.$1 inside=192.168.$1.2
  back='ct state established,related accept'
  case $2 in
    none) mangle= back=accept; ip -n internet route replace 192.168.$1.0/24 via 203.0.113.$1 dev wan$1 onlink ;;
    # Port and host behind it stay the same for all, and all may send to it.
    full-cone)
      mangle="snat to $outside"
      back="ip daddr $inside accept"
      inbound="iif wan udp dport 1024-65535 dnat to $inside" ;;
    # The same port for all, and those may send to it to whom something was sent.
    restricted) mangle=masquerade ;;
    # Another port for each.
    symmetric) mangle='masquerade random,fully-random' ;;
    # Nothing but connections gets out.
    connections) mangle=masquerade refused='meta l4proto udp drop' ;;
  esac
  ip netns exec router$1 nft -f - << RULES
flush ruleset
table ip router {
  chain out {
    type nat hook postrouting priority srcnat;
    ${mangle:+oif wan $mangle}
  }
  chain in {
    type nat hook prerouting priority dstnat;
    ${inbound:-}
  }
  chain through {
    type filter hook forward priority filter; policy drop;
    ${refused:-}
    iif lan accept
    iif wan $back
  }
  # An unasked packet would else occupy a port that the router is to give to a host.
  chain own { type filter hook input priority filter; iif wan drop; }
}
RULES
  unset mangle inbound refused
}

servers() {
  ip netns add internet
  ip -n internet link set lo up
  ip -n internet addr add $server/32 dev lo
  # What is sent to the addresses behind routers is lost, not refused.
  ip -n internet route add 192.168.0.0/16 dev lo
  ip netns exec internet sysctl -qw net.ipv4.ip_forward=1
  mkdir -p /run/kamailio
  ip netns exec internet kamailio -f /mnt/kamailio.cfg -DD -E -Y /run/kamailio -m 32 -M 4 -A SIP_UDP=$server:5060 \
    -A SIP_TCP=$server:5060 -A SIP_TLS=$server:5061 -A DOMAIN=localhost -A 'TLS_CONFIGURATION="/mnt/tls.cfg"' \
    > /run/out/kamailio.log 2>&1 &
  ip netns exec internet turnserver -c /mnt/turnserver.conf -L $server -E $server --cert /mnt/server.pem \
    --pkey /mnt/server.key --pidfile /run/turn.pid --db /run/turn.db -m 1 > /run/out/turn.log 2>&1 &
}

await() {
  for attempt in $(seq 200); do
    grep -q "$1" "$2" 2> /dev/null && return
    usleep 100000
  done
  echo "$1 did not come in $2" >&2
}

# phone NUMBER USER TURN: the files of a user, whose relay is that one, or none.
phone() {
  home=/run/home$1
  rm -rf $home
  export XDG_DATA_HOME=$home XDG_CONFIG_HOME=$home SSL_CERT_FILE=/mnt/authority.pem
  echo secret | sidetone account add $2@localhost --server $server:5061 --stun $server ${3:+--turn "$3"} > /dev/null
}

# pair FIRST SECOND RELAY: one call between two kinds of routers.
pair() {
  out=/run/out/$1+$2
  mkdir -p $out
  route 1 $1
  route 2 $2
  phone 2 bob "$3"
  ip netns exec host2 sidetone listen --answer --once --json --headset null --account bob@localhost \
    > $out/bob.jsonl 2> $out/bob.err &
  listener=$!
  await '"seconds":600' $out/bob.jsonl
  phone 1 alice "$3"
  ip netns exec host1 sidetone call bob --json --headset null --duration 3 > $out/alice.jsonl 2> $out/alice.err
  # A call that was not answered leaves the other side waiting.
  sleep 1
  kill $listener 2> /dev/null
  wait $listener
  for number in 1 2; do ip -n internet route del 192.168.$number.0/24 2> /dev/null; done
}
