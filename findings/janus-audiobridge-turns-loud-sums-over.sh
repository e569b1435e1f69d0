#!/usr/bin/env bash
# Package: Janus 1.1.2 (Debian 12 package janus 1.1.2-1), its AudioBridge (the conference mixer of
# this server), a room of 8000 Hz, three participants by plain RTP with PCMU.
# Expected: a mixer limits a sum that is more than 16 bits hold, or turns it down; the worst that
# loud talkers do to each other is clipping, which keeps the sign of each sample.
# Instead: the sum is kept in 32 bits and then cut to its lower 16. A sum of 40000 goes out as
# -25536: as soon as two talkers together pass the full scale, by whatever little, the peaks of the
# wave come out with the other sign, which is a crackling as loud as the talkers.
# Why it matters: one loud talker at a time is fine, so the room passes every test with one. When two
# laugh at once, or one talks while music plays, all the others hear bursts of noise, and the phone
# that plays them is blamed. Turn all participants down when they join ("volume": 50), and test a
# conference with two loud sources at the same time.
# Output seen (400 Hz from one, 1000 Hz from the other; what the third hears, against their sum as
# a mixer that clips would give it):
#   two peaks of 12000:                   0 % of the samples have the wrong sign, difference -36 dB
#   two peaks of 16000:                   0 % of the samples have the wrong sign, difference -38 dB
#   two peaks of 20000:                  10 % of the samples have the wrong sign, difference +0 dB
#   two peaks of 30000:                  25 % of the samples have the wrong sign, difference +1 dB
#   two peaks of 30000, both volume 50:   0 % of the samples have the wrong sign, difference -37 dB
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
        self.name, self.handle, self.number, self.time = name, handle, 0, 0
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
    talkers, listener = [Participant("a"), Participant("bb")], Participant("ccc")
    for peak, volume in ((12000, 100), (16000, 100), (20000, 100), (30000, 100), (30000, 50)):
        if volume != 100:
            for talker in talkers:
                ask("event", janus="message", session_id=session, handle_id=talker.handle,
                    body=dict(request="configure", volume=volume))
        heard = []
        sounds = [tone(peak, hertz, 0, 160) for hertz in (400, 1000)]
        start = time.monotonic()
        for n in range(75):                                # whole periods in each packet of 20 ms
            time.sleep(max(0, start + 0.02 * n - time.monotonic()))
            for talker, sound in zip(talkers, sounds):
                talker.send(coded(sound))
            listener.send(SILENCE)
            heard += listener.hear()
        each = [struct.unpack("<160h", audioop.ulaw2lin(coded(sound), 2)) for sound in sounds]
        wanted = [max(-32768, min(32767, (x + y) * volume // 100)) for x, y in zip(*each)]
        # Packets from before both talkers were there, or of the last round, are none of these.
        both = max(set(heard), key=heard.count)
        share = heard.count(both) / len(heard)
        error = sum((x - y) ** 2 for x, y in zip(both, wanted)) / sum(x * x for x in wanted)
        decibels = 10 * math.log10(error)
        wrong = round(100 * sum(x * y < 0 for x, y in zip(both, wanted)) / 160)
        title = "two peaks of %d%s:" % (peak, "" if volume == 100 else ", both volume %d" % volume)
        print("%-36s %2d %% of the samples have the wrong sign, difference %+.0f dB"
              % (title, wrong, decibels), flush=True)
        loud = peak * volume > 1638400
        good = good and share > 0.5 and (decibels > -3 and wrong > 5 if loud else decibels < -30 and not wrong)
finally:
    janus.terminate()
    janus.wait()
if not good:
    sys.exit("CHANGED: what the mixer does with a sum above the full scale")
print("as described")
PY
LD_LIBRARY_PATH="$lib" timeout 50 python3 -W ignore run.py
