#!/usr/bin/env bash
# aiortp 0.8.0 (PyPI; RTP for Python's asyncio), two of its sessions on one machine, and
# session.send_dtmf() as its README has it: send_dtmf("1", duration_ms=160, timestamp=0).
# Expected: the RTP timestamp of an event is the time at which it began, on the clock of the stream;
# it is what tells one event from the next (RFC 4733 sections 2.2.1 and 2.5.1). The marker bit is on
# an event's first packet (2.2.2), and the packets come one by one while the event lasts (2.5.1.2).
# Seen: timestamp=0 is the default, too, and it is meant: every digit of a call has RTP timestamp 0.
# A receiver, also that of aiortp itself, takes the second digit for the end of the first one, sent
# once more, and of a number only the first digit is reported. All packets of a digit leave in one
# burst, whatever its duration is, and the marker is on the first of the last three.
# It matters to a menu or a phone at the other end: of a PIN of four digits it gets one. A quick
# test with one digit works, and a receiver that tells digits apart by their names hears "1590" well
# but of "1500" one zero only, so the far end seems to be at fault. Count the timestamp along when
# sending with it, and pass it; the burst and the marker stay.
# Output:
#   as in the README: sent 1590, heard 1; timestamps 0, 0, 0, 0
#   timestamp counted along: sent 1590, heard 1590; timestamps 160000, 162400, 164800, 167200
#   a digit of 160 ms: 10 packets, of which 10 are sent before send_dtmf() returns; marker on 8
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" aiortp==0.8.0
cat > "$dir/run.py" <<'PY'
import asyncio, socket, struct, sys
import aiortp

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.setblocking(False)
    return s

def free():
    with bound() as s:
        return s.getsockname()

def waiting(line):                         # the packets that are in the socket now
    packets = []
    while True:
        try:
            packets.append(line.recv(2000))
        except BlockingIOError:
            return packets

async def call(number, count_along):
    """What is heard of a number, and of each digit the packets and how many came at once."""
    line = bound()                         # between the two, to look at the packets
    here, there = free(), free()
    sender = await aiortp.RTPSession.create(
        local_addr=here, remote_addr=line.getsockname(), payload_type=0)
    hearer = await aiortp.RTPSession.create(
        local_addr=there, remote_addr=line.getsockname(), payload_type=0)
    heard, digits, clock = [], [], 160000
    hearer.on_dtmf = lambda digit, duration: heard.append(digit)
    for digit in number:
        sender.send_dtmf(digit, duration_ms=160, timestamp=clock if count_along else 0)
        at_once = waiting(line)
        await asyncio.sleep(0.3)
        clock += 2400
        packets = at_once + waiting(line)
        digits.append(([(struct.unpack("!I", p[4:8])[0], p[1] >> 7) for p in packets
                        if p[1] & 127 == 101], len(at_once)))
        for packet in packets:
            line.sendto(packet, there)
        await asyncio.sleep(0.2)
    for _ in range(50):                    # for a busy machine
        if len(heard) == len(number):
            break
        await asyncio.sleep(0.02)
    await sender.close()
    await hearer.close()
    line.close()
    return "".join(heard), digits

good = True
for title, count_along, want, stamps in (
        ("as in the README", False, "1", [0, 0, 0, 0]),
        ("timestamp counted along", True, "1590", [160000, 162400, 164800, 167200])):
    heard, digits = asyncio.run(call("1590", count_along))
    seen = [packets[0][0] for packets, _ in digits]
    print("%s: sent 1590, heard %s; timestamps %s" % (title, heard, ", ".join(map(str, seen))),
          flush=True)
    good = good and heard == want and seen == stamps
    for packets, at_once in digits:
        markers = [n for n, packet in enumerate(packets, 1) if packet[1]]
        good = good and (len(packets), at_once, markers) == (10, 10, [8])
        good = good and len({packet[0] for packet in packets}) == 1
print("a digit of 160 ms: %d packets, of which %d are sent before send_dtmf() returns; marker on %s"
      % (len(packets), at_once, ", ".join(map(str, markers))))
if not good:
    sys.exit("CHANGED: how aiortp sends digits")
PY
PYTHONPATH="$dir/lib" timeout 60 python3 "$dir/run.py"
