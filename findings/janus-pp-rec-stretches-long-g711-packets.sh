#!/usr/bin/env bash
# Janus 1.1.2 (Debian 12 package janus-tools 1.1.2-1): pcap2mjr and janus-pp-rec, which turn a
# capture, or a recording of the Janus server, into a WAV file.
# Expected: how long a G.711 packet is follows from its octets, and 20 ms are only the default (RFC
# 3551 sections 4.2 and 4.5.14). Packets of 40 or 60 ms are valid, and usual where each packet is
# dear. 3.6 s of sound are 3.6 s in the file.
# Seen: janus-pp-rec takes each step of the timestamp above 30 ms for a loss ("Lost a packet here?")
# though the sequence numbers have no gap, and fills it with silence BESIDE the packet, which it has
# written whole: as much again for 40 ms packets, twice as much for 60 ms. Up to 30 ms all is right.
# It matters to someone who records calls with Janus: a call that comes in 40 ms packets is chopped
# and twice as long in the recording alone, its log reports losses that no counter of the call has,
# and the far end's track, in 20 ms packets, no longer runs beside it. Ask for a=maxptime:20 in the
# SDP, or cut the packets before they are stored.
# Output (3.6 s of PCMU, no packet missing or late):
#   10 ms packets:  3.60 s in the WAV file, of which 0.00 s silent, 0 reported lost
#   20 ms packets:  3.60 s in the WAV file, of which 0.00 s silent, 0 reported lost
#   30 ms packets:  3.60 s in the WAV file, of which 0.00 s silent, 0 reported lost
#   40 ms packets:  7.16 s in the WAV file, of which 3.56 s silent, 89 reported lost
#   60 ms packets: 10.68 s in the WAV file, of which 7.08 s silent, 59 reported lost
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p deb/partial
# The programs under test are pinned; the libraries that they need come as Debian has them.
package=janus-tools=1.1.2-1
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
    -o Dir::Cache::archives="$dir/deb" --no-install-recommends --reinstall --download-only \
    install $package > /dev/null
for deb in deb/*.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import audioop, math, struct, subprocess, sys, wave

def capture(length):                       # 3.6 s of a tone as PCMU over RTP, Ethernet and UDP
    size = 8 * length
    with open("call.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for n in range(3600 // length):
            tone = [round(8000 * math.cos(2 * math.pi * 400 * k / 8000)) for k in range(size)]
            sound = struct.pack("<%dh" % size, *tone)
            rtp = struct.pack("!BBHII", 0x80, 0, 1000 + n, size * n, 7) + audioop.lin2ulaw(sound, 2)
            udp = struct.pack("!HHHH", 40000, 40002, 8 + len(rtp), 0) + rtp
            ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                             b"\x7f\0\0\1", b"\x7f\0\0\1") + udp
            frame = bytes(12) + b"\x08\x00" + ip
            us = 1000 * length * n
            f.write(struct.pack("<IIII", 1700000000 + us // 10**6, us % 10**6,
                                len(frame), len(frame)) + frame)

def convert(length):
    capture(length)
    tool = dict(check=True, capture_output=True, text=True, timeout=20)
    subprocess.run(["root/usr/bin/pcap2mjr", "-c", "pcmu", "call.pcap", "call.mjr"], **tool)
    log = subprocess.run(["root/usr/bin/janus-pp-rec", "call.mjr", "call.wav"], **tool)
    with open("call.wav", "rb") as f:      # its header counts the header in, so it is not asked
        data = f.read()[44:]
    samples = struct.unpack("<%dh" % (len(data) // 2), data)
    silent = sum(not any(samples[k:k + 160]) for k in range(0, len(samples), 160)) / 50
    lost = (log.stdout + log.stderr).count("Lost a packet")
    print("%d ms packets: %5.2f s in the WAV file, of which %.2f s silent, %d reported lost"
          % (length, len(samples) / 8000, silent, lost))
    return round(len(samples) / 8000, 2), silent, lost

got = {length: convert(length) for length in (10, 20, 30, 40, 60)}
right = (3.6, 0, 0)
if got != {10: right, 20: right, 30: right, 40: (7.16, 3.56, 89), 60: (10.68, 7.08, 59)}:
    sys.exit("CHANGED: what janus-pp-rec makes of long packets")
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu*' -printf '%h\n' | sort -u |
    paste -sd:)
export LD_LIBRARY_PATH
timeout 60 python3 -W ignore run.py
