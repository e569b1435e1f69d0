#!/usr/bin/env bash
# Package: trx 0.5 (Debian 12 package trx 0.5-4+b1, with libortp16 1:5.1.64-2): trx-tx sends the
# sound of an ALSA device as Opus over RTP. Here the device is ALSA's "null".
# Expected: Opus has a payload type from the dynamic range and an RTP clock of 48000 Hz, whatever
# the sampling rate (RFC 7587 section 4.1), so 20 ms move the timestamp by 960. Payload type 0 is
# PCMU, and nothing else (RFC 3551 section 6). The timestamp starts at random, and so should the
# sequence number (RFC 3550 section 5.1).
# Instead: every packet says payload type 0, and 20 ms move the timestamp by 160: 8000 Hz, at each
# sampling rate. Both counters start at zero, and no packet has the marker. No option changes any of
# it (there are ones for rate, channels, frame, bit rate and address).
# Why it matters: a phone or a recorder takes the stream for G.711 with packets of an odd size and
# plays noise; tshark calls it G.711, and a receiver told "opus/48000" by hand takes each packet for
# 17 ms late. To listen, map payload type 0 to Opus and multiply the timestamps by 6.
# Output seen (the timestamps' steps, and the length that the Opus packets themselves tell):
#   48000 Hz, -f 960: payload type 0, 20.0 ms of Opus, timestamp 0 + 160 each
#   48000 Hz, -f 120: payload type 0,  2.5 ms of Opus, timestamp 0 + 20 each
#   16000 Hz, -f 320: payload type 0, 20.0 ms of Opus, timestamp 0 + 160 each
#    8000 Hz, -f 160: payload type 0, 20.0 ms of Opus, timestamp 0 + 160 each
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# The last four are only what libbctoolbox1 is linked with.
apt-get -qq -o APT::Sandbox::User=root download trx=0.5-4+b1 libortp16=1:5.1.64-2 \
    libopus0=1.3.1-3 libasound2=1.2.8-1+b1 libbctoolbox1 libmbedcrypto7 libmbedtls14 \
    libmbedx509-1 libdecaf0
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-*-*) ALSA_CONFIG_PATH=$dir/alsa.conf
echo 'pcm.quiet { type null }' > alsa.conf
cat > run.py <<'PY'
import ctypes as C, glob, socket, struct, subprocess, sys

O = C.CDLL(glob.glob("root/usr/lib/*/libopus.so.0")[0])
ok = True
for rate, frame in (48000, 960), (48000, 120), (16000, 320), (8000, 160):
    inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inbox.bind(("127.0.0.1", 0))
    inbox.settimeout(20)
    sender = subprocess.Popen(["root/usr/bin/trx-tx", "-h", "127.0.0.1", "-d", "quiet",
                               "-p", str(inbox.getsockname()[1]), "-r", str(rate),
                               "-f", str(frame), "-b", "64"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        packets = [inbox.recv(2000) for _ in range(8)]
    finally:
        sender.kill()
        sender.wait()
        inbox.close()
    heads = [struct.unpack("!BBHI", p[:8]) for p in packets]
    lengths = {O.opus_packet_get_nb_samples(p[12:], len(p) - 12, 48000) for p in packets}
    step = heads[1][3] - heads[0][3]
    print("%5d Hz, -f %d: payload type %d, %4.1f ms of Opus, timestamp %d + %d each"
          % (rate, frame, heads[0][1] & 127, max(lengths) / 48, heads[0][3], step))
    # Version 2 without extras, no marker; both counters from 0; 8 ticks to a millisecond.
    ok &= heads == [(0x80, 0, i, i * step) for i in range(8)] and len(lengths) == 1
    ok &= step * 6 == lengths.pop() == frame * 48000 // rate
if not ok:
    sys.exit("CHANGED: trx-tx no longer sends Opus as payload type 0 with a clock of 8000 Hz")
PY
python3 run.py
