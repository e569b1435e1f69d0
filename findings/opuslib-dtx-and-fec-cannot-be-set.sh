#!/usr/bin/env bash
# Package: opuslib 3.0.1 (PyPI), with libopus 1.3.1 (Debian 12 package libopus0 1.3.1-3).
# Expected: the Encoder's settings are attributes. bitrate, vbr, packet_loss_perc, signal and
# others do what OPUS_SET_ and OPUS_GET_ requests do in libopus. So should dtx and inband_fec,
# for which the class has getters and setters too.
# Instead: "encoder.dtx = 1" is accepted, reads back as 1 and does nothing: the class never makes
# the property (and its setter calls the getter's request), so Python just stores the number. No
# packet is left out. "encoder.inband_fec = 1" raises a TypeError, since the setter does not pass
# the value on; packet_loss_perc alone puts no FEC into the stream. The repository has had the first
# one right since 2018, but 3.0.1 is the newest release.
# Why it matters: a bot or a test of a phone's silence handling with opuslib sends full packets in
# each pause, and a receiver's FEC is never exercised; the loss on the line is blamed, or the
# phone. Use the requests themselves:
#   opuslib.api.encoder.encoder_ctl(encoder.encoder_state, opuslib.api.ctl.set_dtx, 1)
# Output seen (1 s of voice, 3 s of silence, 20 ms each; DTX packets are those of 1 or 2 bytes):
#   nothing set:                 DTX packets   0 of 200; in libopus dtx 0, fec 0, loss 0
#   encoder.dtx = 1:             reads 1, DTX packets   0 of 200; in libopus dtx 0, fec 0, loss 0
#   request set_dtx, 1:          DTX packets 134 of 200; in libopus dtx 1, fec 0, loss 0
#   encoder.packet_loss_perc=20: reads 20, DTX packets   0 of 200; in libopus dtx 0, fec 0, loss 20
#   request set_inband_fec, 1:   DTX packets   0 of 200; in libopus dtx 0, fec 1, loss 0
#   encoder.inband_fec = 1:      TypeError, argument missing: 'value'
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopus0=1.3.1-3
dpkg -x libopus0_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" opuslib==3.0.1
cat > run.py <<'PY'
import array, ctypes.util, glob, math, sys
sys.path.insert(0, "py")
find = ctypes.util.find_library            # opuslib asks this for the library
ctypes.util.find_library = lambda name: (
    glob.glob("root/usr/lib/*/libopus.so.0")[0] if name == "opus" else find(name))
import opuslib
from opuslib.api import ctl, encoder as calls

voice = [round(6000 * math.sin(i / 20) * (1 + math.sin(i / 900)) / 2) for i in range(48000)]
sound = array.array("h", voice + [0] * 144000)

def made(setting, value):
    coder = opuslib.Encoder(48000, 1, "voip")
    coder.bitrate = 24000
    if isinstance(setting, str):
        setattr(coder, setting, value)
    elif setting:
        calls.encoder_ctl(coder.encoder_state, setting, value)
    packets = [coder.encode(sound[i:i + 960].tobytes(), 960) for i in range(0, len(sound), 960)]
    told = [calls.encoder_ctl(coder.encoder_state, get)
            for get in (ctl.get_dtx, ctl.get_inband_fec, ctl.get_packet_loss_perc)]
    shown = getattr(coder, setting) if isinstance(setting, str) else None
    return sum(len(p) <= 2 for p in packets), shown, told

ok = True
for name, setting, value, want in (
        ("nothing set:                ", None, None, (False, [0, 0, 0])),
        ("encoder.dtx = 1:            ", "dtx", 1, (False, [0, 0, 0])),
        ("request set_dtx, 1:         ", ctl.set_dtx, 1, (True, [1, 0, 0])),
        ("encoder.packet_loss_perc=20:", "packet_loss_perc", 20, (False, [0, 0, 20])),
        ("request set_inband_fec, 1:  ", ctl.set_inband_fec, 1, (False, [0, 1, 0]))):
    small, shown, told = made(setting, value)
    print("%s%s DTX packets %3d of 200; in libopus dtx %d, fec %d, loss %d"
          % (name, "" if shown is None else " reads %d," % shown, small, *told))
    ok &= (small > 100, told) == want and (small == 0 or want[0])
try:
    made("inband_fec", 1)
    ok = False
except TypeError as error:
    print("encoder.inband_fec = 1:      TypeError, argument missing:", str(error).split()[-1])
if not ok:
    sys.exit("CHANGED: opuslib sets DTX or FEC")
PY
python3 run.py
