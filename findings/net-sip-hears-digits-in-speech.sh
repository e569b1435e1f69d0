#!/usr/bin/env bash
# Net::SIP 0.835 (Debian 12 package libnet-sip-perl 0.835-1), its detector of DTMF tones in G.711
# (Net::SIP::DTMF, used by every call with a cb_dtmf), on voice prompts of Asterisk (Debian 12
# package asterisk-core-sounds-en-wav 1.6.1-1: a woman, 8 kHz) in mu-law packets of 20 ms. For
# comparison SpanDSP 0.0.6 (libspandsp2 0.0.6+dfsg-2+b1) on the same samples.
# Expected: speech is no digit (what ITU-T Q.24 calls digit simulation): detectors compare the two
# tones with the whole of the sound and with each other, and ask for a lowest level.
# Seen: it hears a digit about every two seconds of talk: it takes the two strongest of eight tones
# as soon as the third is 7 dB weaker, in two windows of 60 ms that overlap by 40 ms, whatever else
# is in the sound. There is no lowest level, either: a digit 60 dB below the full scale counts, so
# that an echo does. SpanDSP hears none in the same talk and not the faint digit.
# It matters to a phone or a laboratory with such a peer, a menu or a test robot: by default it
# listens for tones even if telephone-event was agreed on, and calls cb_dtmf for both; each word of
# the far end may choose something in the menu. A test "the peer heard my digit" passes with talk
# alone. Give it dtmf_methods => 'rfc2833'.
# Output:
#   talk of 64 s: Net::SIP hears 33 digits, DD99A9C662956796296C59669299629CC
#   talk of 64 s: SpanDSP hears 0 digits
#   digits 1590 of 100 ms at -60 dBFS: Net::SIP hears 1590, SpanDSP nothing
#   digits 1590 of 100 ms at -20 dBFS: Net::SIP hears 1590, SpanDSP 1590
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libnet-sip-perl=0.835-1 \
    asterisk-core-sounds-en-wav=1.6.1-1 libspandsp2=0.0.6+dfsg-2+b1 libtiff6 libwebp7 libzstd1 \
    liblzma5 libjbig0 libjpeg62-turbo libdeflate0 liblerc4
for deb in *.deb; do dpkg -x "$deb" root; done
cat > hear.pl <<'PL'
use strict;
use warnings;
use Net::SIP::DTMF;

# The digits in a file of mu-law, as in a stream of packets of 160 octets.
open my $file, '<:raw', $ARGV[0] or die $!;
my $extractor = dtmf_extractor(audio_type => 0);
my ($number, $digits) = (0, '');
while (read($file, my $octets, 160) == 160) {
    my $packet = pack('CCnNNa*', 128, 0, $number & 65535, 160 * $number, 7, $octets);
    my ($digit) = $extractor->($packet, 100 + 0.02 * $number++);
    $digits .= $digit if defined $digit;
}
print $digits;
PL
cat > run.py <<'PY'
import audioop, ctypes as C, glob, math, struct, subprocess, sys, wave

S = C.CDLL(glob.glob("root/usr/lib/*/libspandsp.so.2")[0])
HEARD = C.CFUNCTYPE(None, C.c_void_p, C.c_char_p, C.c_int)
S.dtmf_rx_init.restype = C.c_void_p
S.dtmf_rx_init.argtypes = [C.c_void_p, HEARD, C.c_void_p]
S.dtmf_rx.argtypes = [C.c_void_p, C.c_char_p, C.c_int]

def both(samples):
    coded = audioop.lin2ulaw(samples, 2)
    with open("sound.ulaw", "wb") as file:
        file.write(coded)
    perl = subprocess.run(["perl", "hear.pl", "sound.ulaw"], check=True, timeout=100,
                          capture_output=True, text=True).stdout
    digits = []
    keep = HEARD(lambda _, heard, count: digits.append(heard[:count].decode()))
    state = S.dtmf_rx_init(None, keep, None)
    decoded = audioop.ulaw2lin(coded, 2)
    for at in range(0, len(decoded), 320):
        S.dtmf_rx(state, decoded[at:at + 320], len(decoded[at:at + 320]) // 2)
    return perl, "".join(digits)

def keys(digits, dbfs):                    # each of the two tones at this level
    sound = b""
    for digit in digits:
        row, column = divmod("123456789*0#".index(digit), 3)
        tones = (697, 770, 852, 941)[row], (1209, 1336, 1477)[column]
        sound += struct.pack("<1600h", *(
            round(32767 * 10 ** (dbfs / 20) * sum(math.sin(2 * math.pi * f * k / 8000)
                                                  for f in tones)) if k < 800 else 0
            for k in range(1600)))
    return sound + bytes(3200)

talk = b""
for name in sorted(glob.glob("root/usr/share/asterisk/sounds/en_US_f_Allison/vm-[im]*.wav")):
    with wave.open(name) as file:
        assert file.getframerate() == 8000 and file.getnchannels() == 1
        talk += file.readframes(file.getnframes())
seconds = len(talk) / 16000
perl, spandsp = both(talk)
print("talk of %.0f s: Net::SIP hears %d digits, %s" % (seconds, len(perl), perl))
print("talk of %.0f s: SpanDSP hears %d digits" % (seconds, len(spandsp)), flush=True)
good = len(perl) > seconds / 4 and len(spandsp) == 0
for level, other in ((-60, ""), (-20, "1590")):
    perl, spandsp = both(keys("1590", level))
    print("digits 1590 of 100 ms at %d dBFS: Net::SIP hears %s, SpanDSP %s"
          % (level, perl or "nothing", spandsp or "nothing"), flush=True)
    good = good and (perl, spandsp) == ("1590", other)
if not good:
    sys.exit("CHANGED: which digits Net::SIP hears")
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export PERL5LIB="$dir/root/usr/share/perl5"
timeout 110 python3 -W ignore run.py
