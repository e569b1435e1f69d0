#!/bin/bash
# Mouth-to-ear latency of a call between two sidetone processes, through ALSA, on an exact clock.
#
# JACK's dummy driver (48 kHz, period 128) is the sound hardware; ALSA's jack plugin makes two headsets
# of it; headset-rig chirps into the microphones and records the loudspeakers sample-locked.
# Usage: latency.sh PROGRAM. SIDETONE_BENCH_SECONDS sets how long each call is measured (60).
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
rig=$here/.build/release/headset-rig
seconds=${SIDETONE_BENCH_SECONDS:-60}
skip=5
work=$(mktemp -d)
export JACK_DEFAULT_SERVER=sidetone-$$
export JACK_NO_AUDIO_RESERVATION=1
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

cat >"$work/asound.conf" <<CONF
</usr/share/alsa/alsa.conf>
pcm.headsetA { type jack playback_ports { 0 rig:spk0 } capture_ports { 0 rig:mic0 } }
pcm.headsetB { type jack playback_ports { 0 rig:spk1 } capture_ports { 0 rig:mic1 } }
CONF
export ALSA_CONFIG_PATH=$work/asound.conf

# Prints one row. Usage: measure TITLE OPTION...
measure() {
  local title=$1 port=$((20000 + RANDOM % 20000))
  shift
  jackd -n "$JACK_DEFAULT_SERVER" -R -P70 -S -d dummy -r 48000 -p 128 >"$work/jackd.log" 2>&1 &
  local server=$!
  sleep 1.5
  "$rig" $((seconds + skip + 2)) "$skip" >"$work/rig.log" 2>&1 &
  local recorder=$!
  for _ in $(seq 50); do grep -q ready "$work/rig.log" && break || sleep 0.1; done
  "$program" listen --answer --once --listen "127.0.0.1:$port" --headset headsetB --json "$@" \
    >"$work/listen.log" 2>&1 &
  local listener=$!
  sleep 0.7
  "$program" call "sip:b@127.0.0.1:$port" --headset headsetA --json --duration $((seconds + skip)) \
    "$@" >"$work/call.log" 2>&1 || { echo "the call failed:"; cat "$work/call.log"; return 1; }
  wait "$recorder" "$listener"
  kill "$server"
  wait "$server" 2>/dev/null || true
  python3 - "$title" "$work/rig.log" "$work/call.log" <<'PY'
import json, sys
title, rig, call = sys.argv[1:]
result = json.loads(open(rig).read().splitlines()[-1])
stats = [json.loads(l) for l in open(call) if '"stats"' in l][-1]
for name, d in (("A to B", result["aToB"]), ("B to A", result["bToA"])):
    print(f'{title:28} {name}  median {d["median"]:6.2f} ms  5 % {d["percentile5"]:6.2f}  '
          f'95 % {d["percentile95"]:6.2f}  chirps {d["heard"]} missed {d["missed"]}')
print(f'{"":28} overruns {stats["overruns"]} underruns {stats["underruns"]} '
      f'concealed {stats["concealedPercent"]} %')
bad = [d for d in result.values() if d["heard"] < 0.9 * (d["heard"] + d["missed"]) or d["heard"] == 0]
sys.exit(1 if bad else 0)
PY
}

measure "defaults (10 ms, 48 kb/s)"
measure "--frame 5" --frame 5 --bitrate 96000
measure "--frame 2.5" --frame 2.5 --bitrate 128000
