#!/usr/bin/env bash
# Package: sbcdec 2.0 (Debian 12 packages sbc-tools and libsbc1 2.0-1), the decoder of BlueZ for SBC and
# mSBC; the files are read with libsndfile 1.2.2 (in PyPI's soundfile 0.14.0), FFmpeg (in PyPI's av
# 18.1.0), sunau of Python 3.11 and SoX (Debian 12 sox 14.4.2+git20190427-3.5).
# Expected: "-f" decodes to a file (sbcdec(1)), an AU file. The third word of its header is the number
# of octets of sound; where a writer cannot know it, it is 0xffffffff (AUDIO_UNKNOWN_SIZE in
# Sun's audio_filehdr.h). A program that writes to a file can go back and fill it in.
# Instead: the word is 0, which says that the file is empty. All the sound follows. libsndfile opens
# the file and gives 0 samples, without an error; sunau counts 0 frames; FFmpeg refuses the file as
# invalid data. sbcdec ends with 0 and says nothing. sbcenc and SoX pass over the word, so a test with
# these, there and back, sees no fault. The same file with either right value is read by libsndfile
# and FFmpeg in full.
# Why it matters: SBC and mSBC are the voice of a Bluetooth headset, and sbcdec is at hand to hear what
# went over the air. A check of levels or lengths by libsndfile then finds that the headset sent
# nothing. Read the file with SoX, or put the length (size of the file less 24) into octets 8 to 11.
# Output seen (2 s of sound, encoded by sbcenc):
#   mSBC, 16000 Hz, 1 channel: status 0, length told 0, octets that follow 63840
#     as written:  SoX 31920 samples, libsndfile 0 samples, sunau 0 frames, FFmpeg InvalidDataError
#     true length: SoX 31920 samples, libsndfile 31920 samples, sunau 31920 frames, FFmpeg 31920 samples
#     0xffffffff:  SoX 31920 samples, libsndfile 31920 samples, FFmpeg 31920 samples
#     sbcenc makes 15162 octets of the file as written, 15162 of the last
#   SBC, 48000 Hz, 2 channels: status 0, length told 0, octets that follow 384000
#     as written:  SoX 96000 samples, libsndfile 0 samples, sunau 0 frames, FFmpeg InvalidDataError
#     true length: SoX 96000 samples, libsndfile 96000 samples, sunau 96000 frames, FFmpeg 96000 samples
#     0xffffffff:  SoX 96000 samples, libsndfile 96000 samples, FFmpeg 96000 samples
#     sbcenc makes 57000 octets of the file as written, 57000 of the last
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {sbc-tools,libsbc1}=2.0-1 \
    {sox,libsox3}=14.4.2+git20190427-3.5 libltdl7 libgsm1 libmagic1 libgomp1 libpng16-16
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" soundfile==0.14.0 cffi==2.1.1 pycparser==3.12 av==18.1.0
cat > run.py <<'PY'
import array, math, os, struct, subprocess, sunau, sys
import av, soundfile

folders = os.pathsep.join(sorted({where for where, _, files in os.walk(os.path.abspath("root"))
                                  if any(".so" in name for name in files)}))
env = dict(os.environ, LD_LIBRARY_PATH=folders)

def run(tool, *words):                     # status, output
    done = subprocess.run(["root/usr/bin/" + tool, *words], capture_output=True, env=env, timeout=20)
    return done.returncode, done.stdout

def through_ffmpeg(name):
    try:
        with av.open(name) as file:
            return "%d samples" % sum(frame.samples for frame in file.decode(audio=0))
    except av.FFmpegError as problem:
        return type(problem).__name__

def through_sunau(name):
    with sunau.open(name, "rb") as file:
        return file.getnframes()

ok = True
for title, rate, channels, options in (("mSBC", 16000, 1, ["-m"]), ("SBC", 48000, 2, [])):
    sound = array.array("h", (round(8000 * math.sin(2 * math.pi * 440 * (i // channels) / rate))
                              for i in range(2 * rate * channels)))
    sound.byteswap()
    data = sound.tobytes()
    with open("in.au", "wb") as file:
        file.write(struct.pack(">4s5I", b".snd", 24, len(data), 3, rate, channels) + data)
    status, coded = run("sbcenc", *options, "in.au")
    with open("call.sbc", "wb") as file:
        file.write(coded)
    done, _ = run("sbcdec", *options, "-f", "out.au", "call.sbc")
    with open("out.au", "rb") as file:
        whole = file.read()
    size, frames = len(whole) - 24, (len(whole) - 24) // 2 // channels
    head = struct.unpack(">4s5I", whole[:24])
    print("%s, %d Hz, %d channel%s: status %d, length told %d, octets that follow %d"
          % (title, rate, channels, "s" * (channels - 1), done, head[2], size), flush=True)
    ok &= status == done == 0 and head == (b".snd", 24, 0, 3, rate, channels)
    ok &= 1.9 * rate < frames <= 2 * rate
    for name, length, good in (("as written:", None, False), ("true length:", size, True),
                               ("0xffffffff:", 0xffffffff, True)):
        patched = whole if length is None else whole[:8] + struct.pack(">I", length) + whole[12:]
        with open("read.au", "wb") as file:
            file.write(patched)
        samples, movie = soundfile.info("read.au").frames, through_ffmpeg("read.au")
        told = ", sunau %d frames" % through_sunau("read.au") if length != 0xffffffff else ""
        sox = len(run("sox", "read.au", "-t", "raw", "-")[1]) // 2 // channels
        print("  %-12s SoX %d samples, libsndfile %d samples%s, FFmpeg %s"
              % (name, sox, samples, told, movie), flush=True)
        ok &= sox == frames
        ok &= samples == (frames if good else 0)
        ok &= movie == ("%d samples" % frames if good else "InvalidDataError")
        ok &= not told or told == ", sunau %d frames" % (frames if good else 0)
    again = [len(run("sbcenc", *options, name)[1]) for name in ("out.au", "read.au")]
    print("  sbcenc makes %d octets of the file as written, %d of the last" % tuple(again), flush=True)
    ok &= again[0] == again[1] > 0.9 * len(coded)
if not ok:
    sys.exit("CHANGED: the header that sbcdec writes, or how it is read")
print("as described")
PY
PYTHONPATH=$dir/py timeout 50 python3 -W ignore run.py
