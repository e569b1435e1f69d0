#!/usr/bin/env bash
# Package: Janus 1.1.2 (Debian 12 package janus 1.1.2-1), its AudioBridge (the conference mixer of
# this server), a room of 8000 Hz, two participants by plain RTP with PCMU.
# Expected: how long a G.711 packet is follows from its octets; 20 ms are only the default, and a
# receiver should accept packets of up to 200 ms (RFC 3551 sections 4.2 and 4.5.14).
# Instead: a G.711 packet that does not have exactly 160 octets is thrown away ("Wrong packet size"
# in the log, at the level of a warning). No error comes over the API, the participant is listed as
# joined and not muted; the others hear nothing at all of it.
# Why it matters: phones and gateways with 10, 30 or 40 ms (ptime:30 is a usual setting of trunks)
# are mute in such a conference, though they hear it. There is no ptime to ask for in the API that
# joins by plain RTP: have the gateway send 20 ms, or put Opus between.
# Output seen (2 s of a tone from one, what the other hears):
#   packets of 20 ms: the tone is heard
#   packets of 10 ms: silence; "expected 160, got 80" 200 times in the log
#   packets of 30 ms: silence; "expected 160, got 240" 67 times in the log
#   packets of 40 ms: silence; "expected 160, got 320" 50 times in the log
#   packets of 60 ms: silence; "expected 160, got 480" 34 times in the log
#   packets of 20 ms: the tone is heard
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p deb/partial conf plugins transports
# The program under test is pinned; the libraries that it needs come as Debian has them.
package=janus=1.1.2-1
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
    -o Dir::Cache::archives="$dir/deb" --no-install-recommends --reinstall --download-only \
    install $package > /dev/null
for deb in deb/*.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-linux-gnu)
ln -s "$lib"/janus/plugins/libjanus_audiobridge.so plugins/
ln -s "$lib"/janus/transports/libjanus_pfunix.so transports/
cat > conf/janus.jcfg <<JCFG
general: { plugins_folder = "$dir/plugins" debug_level = 4
           transports_folder = "$dir/transports" events_folder = "$dir/none"
           loggers_folder = "$dir/none" interface = "127.0.0.1" }
JCFG
cat > conf/janus.transport.pfunix.jcfg <<JCFG
general: { enabled = true json = "compact" path = "$dir/api" type = "SOCK_SEQPACKET" }
JCFG
cat > conf/janus.plugin.audiobridge.jcfg <<JCFG
general: { local_ip = "127.0.0.1" rtp_port_range = "28000-28400" }
JCFG
cat > run.py <<'PY'
import audioop, json, math, os, socket, struct, subprocess, sys, time

janus = subprocess.Popen(["root/usr/bin/janus", "-F", os.path.abspath("conf"), "-C", "conf/janus.jcfg"],
                         stdout=open("log", "w"), stderr=subprocess.STDOUT)
api = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
api.settimeout(10)

def ask(answer="success", **message):
    api.send(json.dumps(dict(message, transaction="ours")).encode())
    while True:
        got = json.loads(api.recv(65536))
        if got.get("transaction") == "ours" and got["janus"] in (answer, "error"):
            return got

class Participant:
    """One who joins by plain RTP with PCMU."""
    def __init__(self, name):
        handle = attach()
        self.name, self.number, self.time = name, 0, 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        joined = ask("event", janus="message", session_id=session, handle_id=handle, body=dict(
            request="join", room=1, display=name, codec="pcmu",
            rtp=dict(ip="127.0.0.1", port=self.socket.getsockname()[1], payload_type=0)))
        rtp = joined["plugindata"]["data"]["rtp"]
        self.target = rtp["ip"], rtp["port"]

    def send(self, payload):
        head = struct.pack("!BBHII", 0x80, 0, self.number & 65535, self.time, len(self.name))
        self.socket.sendto(head + payload, self.target)
        self.number += 1
        self.time += len(payload)

    def hear(self):
        """The packets that have come, as samples."""
        packets = []
        try:
            while True:
                sound = audioop.ulaw2lin(self.socket.recv(2000)[12:], 2)
                packets.append(struct.unpack("<%dh" % (len(sound) // 2), sound))
        except BlockingIOError:
            return packets

def attach():
    return ask(janus="attach", session_id=session, plugin="janus.plugin.audiobridge")["data"]["id"]

def tone(peak, hertz, start, size):
    return [round(peak * math.sin(2 * math.pi * hertz * k / 8000)) for k in range(start, start + size)]

def coded(samples):
    return audioop.lin2ulaw(struct.pack("<%dh" % len(samples), *samples), 2)

SILENCE = b"\xff" * 160
good = True
try:
    for _ in range(250):
        try:
            api.connect("api")
            break
        except OSError:
            time.sleep(0.1)
    else:
        sys.exit("CHANGED or not run: Janus does not start")
    session = ask(janus="create")["data"]["id"]
    ask(janus="message", session_id=session, handle_id=attach(),
        body=dict(request="create", room=1, sampling_rate=8000, allow_rtp_participants=True))
    talker, listener = Participant("a"), Participant("bb")
    for length in (20, 10, 30, 40, 60, 20):
        heard, sent, start = [], 0, time.monotonic()
        listener.hear()                                    # what is left of the last round
        for tick in range(200):                            # of 10 ms
            time.sleep(max(0, start + 0.01 * tick - time.monotonic()))
            if tick % 2 == 0:
                listener.send(SILENCE)
                heard += listener.hear()
            if 10 * tick % length == 0:
                talker.send(coded(tone(8000, 400, 8 * length * sent, 8 * length)))
                sent += 1
        time.sleep(0.5)
        loud = sum(max(packet) > 4000 for packet in heard)
        with open("log") as log:
            refused = log.read().count("expected 160, got %d)" % (8 * length))
        text = "the tone is heard" if loud > 50 else "silence" if loud == 0 and len(heard) > 50 else "?"
        if refused:
            text += '; "expected 160, got %d" %d times in the log' % (8 * length, refused)
        print("packets of %d ms: %s" % (length, text), flush=True)
        good = good and (text == "the tone is heard" if length == 20 else text.startswith("silence")
                         and refused == sent)
finally:
    janus.terminate()
    janus.wait()
if not good:
    sys.exit("CHANGED: which lengths of packets are heard in the mix")
print("as described")
PY
LD_LIBRARY_PATH="$lib" timeout 50 python3 -W ignore run.py
