#!/bin/bash
# Mouth-to-ear latency of a call between two sidetone processes, through ALSA, on an exact clock.
#
# JACK's dummy driver (48 kHz, period 128) is the sound hardware; ALSA's jack plugin makes two headsets
# of it; headset-rig chirps into the microphones and records the loudspeakers sample-locked.
# Usage: latency.sh PROGRAM. SIDETONE_BENCH_SECONDS sets how long each call is measured (60).
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
seconds=${SIDETONE_BENCH_SECONDS:-60}
skip=5
. "$here/jack-rig.sh"

# Prints one row. A call in which chirps were missed, as when the machine stood still, is repeated twice at
# most. Usage: measure TITLE OPTION...
measure() {
  local attempt
  for attempt in 1 2 3; do
    call "$@" && return
    echo "call $attempt: too few chirps were heard"
  done
  return 1
}

# One call and its row; fails if fewer than nine of ten chirps were heard. Usage: call TITLE OPTION...
call() {
  local title=$1 port=$((20000 + RANDOM % 20000))
  shift
  start_rig $((seconds + skip + 2)) "$skip"
  "$program" listen --answer --once --listen "127.0.0.1:$port" --headset headsetB --json "$@" \
    >"$work/listen.log" 2>&1 &
  local listener=$!
  sleep 0.7
  "$program" call "sip:b@127.0.0.1:$port" --headset headsetA --json --duration $((seconds + skip)) \
    "$@" >"$work/call.log" 2>&1 || { echo "the call failed:"; cat "$work/call.log"; exit 1; }
  wait "$recorder" "$listener" || { echo "the other side failed:"; cat "$work/listen.log"; exit 1; }
  stop_rig
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
