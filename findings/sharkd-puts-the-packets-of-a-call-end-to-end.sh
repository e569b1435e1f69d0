#!/usr/bin/env bash
# sharkd 4.0.17 (Debian 12 package wireshark-common 4.0.17-0+deb12u3), Wireshark's server program
# for scripts and web pages: its "download" of an RTP stream as WAV.
# Expected: the sound of a call as it was: each packet at the place that its timestamp says (RFC
# 3550 section 5.1), once, in the order of the sequence numbers, with silence where there is none.
# Wireshark's own RTP player keeps to the timestamps.
# Seen: the payloads of the packets in the order of capture, end to end, and nothing else. Time that
# was lost, a pause without packets and the time of a digit are cut out, a packet captured twice
# sounds twice, and two packets that overtook each other are played in the wrong order.
# It matters to someone who judges a call, or gives it to speech recognition, by such a file: 1 s
# lost can hardly be heard, both directions no longer fit each other, and a capture on two
# interfaces of a gateway sounds stammering at half speed. Only a stream without pauses, loss and
# digits is right.
# Output (length of the WAV file; 200 packets of 20 ms, 4 s):
#   as sent:                             4.00 s
#   50 packets lost:                     3.00 s
#   a pause of 1 s, marked, without loss: 3.00 s
#   a digit of 0.4 s:                    3.60 s
#   every packet captured twice:         8.00 s
#   two packets swapped:                 4.00 s
#                                        the sound of packets 100 and 101 comes as 101, 100
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"
# The program under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download \
    {wireshark-common,libwireshark16,libwiretap13,libwsutil14}=4.0.17-0+deb12u3 \
    libpcap0.8 libglib2.0-0 libbrotli1 libc-ares2 libgnutls30 libkrb5-3 libk5crypto3 \
    libkrb5support0 libkeyutils1 libcom-err2 libxml2 libicu72 liblua5.2-0 libnghttp2-14 \
    libsmi2ldbl libsnappy1v5 libdbus-1-3 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 \
    libnettle8 libhogweed6 libgmp10 libffi8 libspandsp2 libbcg729-0 libsbc1 libspeexdsp1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import audioop, base64, glob, json, os, struct, subprocess, sys

def packet(second, number, ticks, level, kind=0):
    """20 ms of one sample value, or a packet of a digit."""
    payload = (audioop.lin2ulaw(struct.pack("<h", level) * 160, 2) if kind == 0
               else b"\x01\x0a\x03\x20")   # RFC 4733
    rtp = struct.pack("!BBHII", 0x80, kind, 1000 + number, ticks, 7) + payload
    udp = struct.pack("!HHHH", 40000, 40002, 8 + len(rtp), 0) + rtp
    return second, struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                               b"\x7f\0\0\1", b"\x7f\0\0\1") + udp

def capture(packets):
    with open("call.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for second, data in packets:
            us = round(second * 10**6)
            f.write(struct.pack("<IIII", 1700000000 + us // 10**6, us % 10**6,
                                len(data), len(data)) + data)

def level(n):                              # tells packet n from its neighbours
    return 1600 * (n % 10 + 1)

def heard(name, packets):
    capture(packets)
    folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
    plugins = os.path.abspath(glob.glob("root/usr/lib/*/wireshark/plugins")[0])
    env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders), HOME=os.getcwd(),
               WIRESHARK_PLUGIN_DIR=plugins)
    # Run by root, sharkd would take its decoders from the system's folder alone.
    other = "setpriv --reuid=65534 --regid=65534 --clear-groups".split() * (os.getuid() == 0)
    asked = [("load", {"file": os.path.abspath("call.pcap")}),
             ("setconf", {"name": "rtp.heuristic_rtp", "value": "TRUE"}),
             ("download", {"token": "rtp:127.0.0.1_40000_127.0.0.1_40002_0x7"})]
    lines = "".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": p}) + "\n"
                    for n, (method, p) in enumerate(asked, 1))
    done = subprocess.run([*other, "root/usr/bin/sharkd", "-"], input=lines, env=env,
                          timeout=50, capture_output=True, text=True)
    result = json.loads(done.stdout.splitlines()[-1]).get("result", {})
    if "data" not in result:
        sys.exit("CHANGED or not run: sharkd gives no sound: " + done.stdout[-300:])
    data = base64.b64decode(result["data"])[44:]
    samples = struct.unpack("<%dh" % (len(data) // 2), data)
    order = [samples[k] for k in range(80, len(samples), 160)]
    print("%-36s %.2f s" % (name + ":", len(samples) / 8000), flush=True)
    return len(samples) / 8000, order

whole = [packet(n / 50, n, 160 * n, level(n)) for n in range(200)]
pause = whole[:50] + [packet(n / 50, n - 50, 160 * n, level(n)) for n in range(100, 200)]
swapped = whole[:100] + [(2.0, whole[101][1]), (2.02, whole[100][1])] + whole[102:]
digit = whole[:100] + [packet(n / 50, n, 16000, 0, 101) for n in range(100, 120)] + whole[120:]
good = heard("as sent", whole)
got = [heard("50 packets lost", whole[:50] + whole[100:]),
       heard("a pause of 1 s, marked, without loss", pause),
       heard("a digit of 0.4 s", digit),
       heard("every packet captured twice", [q for p in whole for q in (p, p)])]
late = heard("two packets swapped", swapped)
places = [good[1].index(late[1][k], 100) for k in (100, 101)]
print("%36s the sound of packets 100 and 101 comes as %d, %d" % ("", *places))
if (good[0], late[0], [g[0] for g in got], places) != (4, 4, [3, 3, 3.6, 8], [101, 100]):
    sys.exit("CHANGED: the sound that sharkd takes from a capture")
PY
timeout 100 python3 -W ignore run.py
