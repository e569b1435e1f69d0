#!/usr/bin/env bash
# SpeexDSP 1.2.1 (Debian 12 package libspeexdsp1 1.2.1-1), its adaptive jitter buffer.
# Expected: it learns the line's jitter and keeps a delay for it. With DTX a pause has no packets
# (RFC 3551 section 4.1); the timestamps of the next packets tell how long it was, so the buffer has
# no cause to forget. A pause is the time to set a delay anew, not to lose it.
# Seen: after more than 20 calls of jitter_buffer_get() in a row without a packet, the next packet
# that is put in resets the buffer. Its delay starts again from that one packet, late or not, and
# the head of each talkspurt is lost until it has learned. A pause of 20 packets costs nothing, one
# of 22 makes packets late twenty times as often. No return value or request tells of the reset.
# It matters to a phone with silence suppression: on a line with 60 ms of jitter about three packets
# are lost at each first word, and a test with continuous sound finds none. While the far end is
# silent put in an empty packet with its right timestamp now and then (last line).
# Output (packets of 20 ms, each 0 or 60 ms late by chance; 2 s of talk between two pauses):
#   no pause                         5 of 6000 packets not played,   5 of them in the first 200 ms
#   pauses of 20 packets             5 of 5000 packets not played,   5 of them in the first 200 ms
#   pauses of 22 packets           118 of 4922 packets not played, 107 of them in the first 200 ms
#   pauses of 50 packets           144 of 4000 packets not played, 129 of them in the first 200 ms
#   50, an empty one each 200 ms     5 of 4000 packets not played,   5 of them in the first 200 ms
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeexdsp1=1.2.1-1
dpkg -x libspeexdsp1_*.deb root
cat > run.py <<'PY'
import ctypes as C, glob, random, sys

S = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.jitter_buffer_init.restype = C.c_void_p
TICKS, TALK = 160, 100                     # 20 ms at 8000 Hz; packets in a talkspurt

class Packet(C.Structure):                 # JitterBufferPacket
    _fields_ = [("data", C.c_void_p), ("len", C.c_uint32), ("timestamp", C.c_uint32),
                ("span", C.c_uint32), ("sequence", C.c_uint16), ("user_data", C.c_uint32)]

room = C.create_string_buffer(100)

def packet(k):
    return Packet(C.cast(room, C.c_void_p), 100, k * TICKS, TICKS, k & 0xFFFF, 0)

def run(name, pause, filled=False):
    rnd = random.Random(1)
    jitter = C.c_void_p(S.jitter_buffer_init(TICKS))
    arrivals, voice = [], []
    for k in range(6000):
        place = k % (TALK + pause)
        if place < TALK:
            arrivals.append((20 * k + rnd.choice((0, 60)), k))
            voice.append(k)
        elif filled and place % 10 == 0:
            arrivals.append((20 * k, k))
    arrivals.sort()
    at, played = 0, set()
    for tick in range(6020):
        while at < len(arrivals) and arrivals[at][0] <= 20 * tick + 5:
            S.jitter_buffer_put(jitter, C.byref(packet(arrivals[at][1])))
            at += 1
        out, offset = packet(0), C.c_int32()
        if S.jitter_buffer_get(jitter, C.byref(out), TICKS, C.byref(offset)) == 0:
            played.add(out.timestamp // TICKS)
        S.jitter_buffer_tick(jitter)
    S.jitter_buffer_destroy(jitter)
    lost = [k % (TALK + pause) for k in voice if k not in played]
    early = sum(place < 10 for place in lost)
    print("%-30s %3d of %d packets not played, %3d of them in the first 200 ms"
          % (name, len(lost), len(voice), early))
    return len(lost), early

got = (run("no pause", 0), run("pauses of 20 packets", 20), run("pauses of 22 packets", 22),
       run("pauses of 50 packets", 50), run("50, an empty one each 200 ms", 50, True))
if got != ((5, 5), (5, 5), (118, 107), (144, 129), (5, 5)):
    sys.exit("CHANGED: SpeexDSP's jitter buffer treats pauses otherwise")
PY
python3 run.py
