#!/usr/bin/env bash
# Package: sfconvert 0.3.6 (Debian 12 packages audiofile-tools and libaudiofile1 0.3.6-5+deb12u1); the
# files are read with libsndfile 1.2.2 (in PyPI's soundfile 0.14.0), SoX (Debian 12 sox
# 14.4.2+git20190427-3.5) and FFmpeg (in PyPI's av 18.1.0).
# Expected: G.711 has the tags 7 (mu-law) and 6 (A-law) in WAV (RFC 2361, appendix A), as everybody writes
# it. sfconvert calls its own output "CCITT G.711 u-law compression" and "Microsoft RIFF WAVE Format".
# Instead: it writes 0x0101 and 0x0102, which the registry has for IBM's codecs of that name. The octets
# are plain G.711. libsndfile, SoX and FFmpeg refuse the file. With 7 or 6 put into the two octets all
# three read it, and the sound is right; AU files need nothing. A good file is spoilt by a copy: mu-law
# with tag 7 goes in and 0x0101 comes out. sfconvert and sfinfo read both alike and end with 0, so a
# check with the same package is content. The manual says nothing of it.
# Why it matters: "format wave compression ulaw" is how one makes prompts and test calls for a telephone
# system with it. Programs that stand on these three readers do not take them (SoX: "Unknown WAV file
# encoding (type 101)"). Make such files with SoX, or change the tag (octets 20 and 21).
# Output seen (a tone of 2 s; samples, and how far noise is below the tone):
#   mu-law of this script, tag 7:    libsndfile 16000, -40 dB; SoX 16000, -40 dB; FFmpeg 16000, -40 dB
#   A-law of this script, tag 6:     libsndfile 16000, -39 dB; SoX 16000, -39 dB; FFmpeg 16000, -39 dB
#   PCM to ulaw, WAV, tag 0x0101:    libsndfile refuses; SoX refuses; FFmpeg refuses
#     with tag 7 put in:             libsndfile 16000, -40 dB; SoX 16000, -40 dB; FFmpeg 16000, -40 dB
#   PCM to alaw, WAV, tag 0x0102:    libsndfile refuses; SoX refuses; FFmpeg refuses
#     with tag 6 put in:             libsndfile 16000, -39 dB; SoX 16000, -39 dB; FFmpeg 16000, -39 dB
#   mu-law to ulaw, WAV, tag 0x0101: libsndfile refuses; SoX refuses; FFmpeg refuses
#     with tag 7 put in:             libsndfile 16000, -40 dB; SoX 16000, -40 dB; FFmpeg 16000, -40 dB
#   A-law to alaw, WAV, tag 0x0102:  libsndfile refuses; SoX refuses; FFmpeg refuses
#     with tag 6 put in:             libsndfile 16000, -39 dB; SoX 16000, -39 dB; FFmpeg 16000, -39 dB
#   PCM to ulaw, AU:                 libsndfile 16000, -40 dB; SoX 16000, -40 dB; FFmpeg 16000, -40 dB
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {audiofile-tools,libaudiofile1}=0.3.6-5+deb12u1 libflac12 \
    libogg0 {sox,libsox3}=14.4.2+git20190427-3.5 libltdl7 libgsm1 libmagic1 libgomp1 libpng16-16
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" soundfile==0.14.0 cffi==2.1.1 pycparser==3.12 av==18.1.0
cat > run.py <<'PY'
import array, audioop, math, os, struct, subprocess, sys
import av, soundfile

RATE, COUNT = 8000, 16000
tone = [round(8000 * math.sin(2 * math.pi * 440 * i / RATE)) for i in range(COUNT)]
linear = array.array("h", tone).tobytes()
folders = os.pathsep.join(sorted({where for where, _, files in os.walk(os.path.abspath("root"))
                                  if any(".so" in name for name in files)}))
env = dict(os.environ, LD_LIBRARY_PATH=folders)

def wav(name, tag, bits, data):
    form = struct.pack("<HHIIHHH", tag, 1, RATE, RATE * bits // 8, bits // 8, bits, 0)
    parts = (b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"fact" + struct.pack("<II", 4, COUNT)
             + b"data" + struct.pack("<I", len(data)) + data)
    with open(name, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", len(parts)) + parts)

def run(tool, *words):
    return subprocess.run(["root/usr/bin/" + tool, *words], capture_output=True, env=env, timeout=20)

def by_libsndfile(name):
    try:
        with soundfile.SoundFile(name) as file:
            return bytes(file.buffer_read(dtype="int16"))
    except soundfile.LibsndfileError:
        return None

def by_sox(name):
    done = run("sox", "-D", name, "-t", "raw", "-e", "signed", "-b", "16", "-L", "-")
    return done.stdout if done.returncode == 0 else None

def by_ffmpeg(name):
    try:
        with av.open(name) as file:
            frames = [frame for frame in file.decode(audio=0)]
    except (av.FFmpegError, av.codec.codec.UnknownCodecError):
        return None
    assert {frame.format.packed.name for frame in frames} == {"s16"}
    return b"".join(bytes(frame.planes[0])[:2 * frame.samples] for frame in frames)

def heard(data):                           # samples, noise below the tone
    if data is None:
        return "refuses"
    sound = array.array("h", data)
    noise = sum((x - y) ** 2 for x, y in zip(sound, tone))
    return "%d, %.0f dB" % (len(sound), 10 * math.log10(noise / sum(y * y for y in tone)))

ok = True
def say(title, name, want):
    global ok
    seen = [heard(read(name)) for read in (by_libsndfile, by_sox, by_ffmpeg)]
    print("%-32s libsndfile %s; SoX %s; FFmpeg %s" % (title, *seen), flush=True)
    ok &= all(s.startswith(want) and (s == "refuses" or int(s.split()[1]) < -20) for s in seen)

wav("PCM.wav", 1, 16, linear)
wav("mu-law.wav", 7, 8, audioop.lin2ulaw(linear, 2))
wav("A-law.wav", 6, 8, audioop.lin2alaw(linear, 2))
say("mu-law of this script, tag 7:", "mu-law.wav", "16000")
say("A-law of this script, tag 6:", "A-law.wav", "16000")
for source, words, kind, tag, right in (
        ("PCM", "ulaw", "wave", 0x101, 7), ("PCM", "alaw", "wave", 0x102, 6), ("mu-law", "ulaw", "wave", 0x101, 7),
        ("A-law", "alaw", "wave", 0x102, 6), ("PCM", "ulaw", "next", None, None)):
    target = "out.au" if kind == "next" else "out.wav"
    done = run("sfconvert", source + ".wav", target, "format", kind, "compression", words)
    with open(target, "rb") as file:
        whole = file.read()
    found = struct.unpack("<H", whole[20:22])[0] if kind == "wave" else None
    ok &= done.returncode == 0 and found == tag
    title = "%s to %s, %s%s:" % (source, words, "AU" if kind == "next" else "WAV",
                                 "" if found is None else ", tag 0x%04x" % found)
    say(title, target, "16000" if right is None else "refuses")
    if right:
        told = run("sfinfo", target)
        ok &= told.returncode == 0 and b"CCITT G.711" in told.stdout
        with open("fixed.wav", "wb") as file:
            file.write(whole[:20] + struct.pack("<H", right) + whole[22:])
        say("  with tag %d put in:" % right, "fixed.wav", "16000")
if not ok:
    sys.exit("CHANGED: the tags that sfconvert writes, or who reads them")
print("as described")
PY
PYTHONPATH=$dir/py timeout 50 python3 -W ignore run.py
