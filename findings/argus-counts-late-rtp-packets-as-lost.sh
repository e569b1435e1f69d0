#!/usr/bin/env bash
# Package: Argus 3.0.8.2 (Debian 12 packages argus-server 2:3.0.8.2-2.2 and argus-client 1:3.0.8.2-6.1+b3), which
# makes flow records of a capture; it knows RTP. Option -J (jitter), shown by ra with spkts, sloss and sjit.
# Expected: lost packets are those expected less those received, and late and double ones count as received
# (RFC 3550 section 6.4.1 and appendix A.3); the jitter comes from the difference between timestamps and times of
# arrival, so that a pause without packets adds nothing (section 6.4.1). ra's manual: sloss is "source pkts
# retransmitted or dropped", sjit is "source jitter (mSec)".
# Instead: each gap in the sequence numbers counts as loss for good; the packet that fills it takes nothing off. One
# that overtakes another is one "lost", one that comes 100 ms late is five, while spkts in the same record has
# them all. A burst that is really lost is counted right, and double packets are. And the jitter is the spread of
# the times between packets: pauses (silence suppression) make 115 ms of it in a stream that has none, and with
# the marker that the first packet after a pause should have (RFC 3551 section 4.1) it is 2.4 s.
# Why it matters: in a network that reorders (two links, Wi-Fi with retries) each call shows a loss of several percent
# that no receiver has, and calls with silence suppression a jitter for which no buffer is large enough.
# Streams all in order and without pauses are right, so a first test shows nothing. Compare spkts with the
# packets that must have been sent (duration by packet length) before believing a loss.
# Output seen (500 packets of 20 ms from A to B, in sum; the jitter is the highest of the records):
#   all in time:                        received 500, lost 0, jitter    0.0 ms
#   50 of them lost in a burst:         received 450, lost 50, jitter   70.7 ms
#   50 times one overtakes another:     received 500, lost 50, jitter    9.0 ms
#   10 of them 100 ms late:             received 500, lost 50, jitter    3.9 ms
#   50 of them twice:                   received 550, lost 0, jitter    6.1 ms
#   pauses of 1 s:                      received 350, lost 0, jitter  114.7 ms
#   pauses of 1 s, marker after each:   received 350, lost 0, jitter 2371.8 ms
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download argus-server=2:3.0.8.2-2.2 argus-client=1:3.0.8.2-6.1+b3 \
    libpcap0.8 libwrap0 libtirpc3 libgeoip1 libdbus-1-3 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 \
    libkeyutils1 libcom-err2 libmariadb3 libncurses6 libreadline8 libtinfo6 libsystemd0 libcap2 libgcrypt20 \
    libgpg-error0 liblzma5 libzstd1 liblz4-1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import glob, os, struct, subprocess, sys

folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders), HOME=os.getcwd())
A, B = ("192.0.2.10", 4000), ("192.0.2.20", 5000)

def packet(number, timestamp, when, source=A, target=B, marker=0):
    rtp = struct.pack("!BBHII", 0x80, marker << 7, number, timestamp, source[1]) + b"\x55" * 160
    address = b"".join(bytes(map(int, end[0].split("."))) for end in (source, target))
    head = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(rtp), 0, 0, 64, 17, 0) + address
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xffff) + (total >> 16)
    return when, (head[:10] + struct.pack("!H", ~((total & 0xffff) + (total >> 16)) & 0xffff) + head[12:]
                  + struct.pack("!HHHH", source[1], target[1], 8 + len(rtp), 0) + rtp)

def records(stream):
    """What Argus tells of A's packets, in sum over its records; B talks all the time."""
    with open("call.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))      # link type 101: IP
        for when, data in sorted(stream + [packet(n, 160 * n, 1.001 + n / 50, B, A) for n in range(500)]):
            file.write(struct.pack("<IIII", 10**9 + int(when), round(when % 1 * 10**6), len(data), len(data)) + data)
    if os.path.exists("call.argus"):
        os.remove("call.argus")
    subprocess.run([os.path.abspath("root/usr/sbin/argus"), "-X", "-J", "-R", "-r", "call.pcap", "-w", "call.argus"],
                   env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    lines = subprocess.run([os.path.abspath("root/usr/bin/ra"), "-n", "-c", ",", "-r", "call.argus", "-s", "proto",
                            "saddr", "spkts", "dpkts", "sloss", "sjit"], env=env, check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    packets = lost = back = 0
    jitter = 0.0
    for kind, source, sent, received, gone, spread in (line.split(",") for line in lines if line.startswith("rtp,")):
        assert source == A[0]
        packets, back, lost = packets + int(sent), back + int(received), lost + int(gone)
        jitter = max(jitter, float(spread.strip("* ") or 0))
    return packets, back, lost, jitter

def times(change=lambda n: 0.0):
    return [packet(n, 160 * n, 1 + n / 50 + change(n)) for n in range(500)]

def pauses(markers):
    heard = [n for n in range(500) if n % 150 < 100]
    return [packet(n, 160 * at, 1 + at / 50, marker=markers and at % 150 == 0) for n, at in enumerate(heard)]

for name, stream, want, low, high in (
        ("all in time:", times(), (500, 0), 0, 0.1),
        ("50 of them lost in a burst:", [p for n, p in enumerate(times()) if not 100 <= n < 150], (450, 50), 20, 200),
        ("50 times one overtakes another:", times(lambda n: 0.025 if n >= 100 and n % 8 == 0 else 0), (500, 50), 1, 20),
        ("10 of them 100 ms late:", times(lambda n: 0.101 if n % 50 == 25 else 0), (500, 50), 1, 20),
        ("50 of them twice:", times() + times(lambda n: 0.0005)[100::8], (550, 0), 1, 20),
        ("pauses of 1 s:", pauses(False), (350, 0), 50, 300),
        ("pauses of 1 s, marker after each:", pauses(True), (350, 0), 1000, 5000)):
    packets, back, lost, jitter = records(stream)
    print(f"{name:<35} received {packets}, lost {lost}, jitter {jitter:6.1f} ms", flush=True)
    if (packets, lost) != want or back != 500 or not low <= jitter <= high:
        sys.exit("CHANGED: this line is not as described")
print("as described")
PY
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
