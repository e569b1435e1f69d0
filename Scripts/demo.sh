#!/bin/bash
# A real call between two sidetone processes on this machine, with virtual headsets that are fed with
# two different spoken texts. Usage: demo.sh PROGRAM. Exit 0 only if each heard the other.
set -euo pipefail
program=$(realpath "$1")
folder=${SIDETONE_DEMO_FOLDER:-demo}
mkdir -p "$folder"
# Each has an identity of its own; the user's lists are not the demonstration's business.
data=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$data"' EXIT

say() { espeak-ng -v "$1" -s 150 -w "$folder/raw.wav" "$3" && sox "$folder/raw.wav" -r 48000 "$2"; }
say en "$folder/alice-said.wav" "Hello Bob, this is Alice. I am calling from the first process. \
Every word that you hear was captured, encoded, sent over the network, buffered and played."
say en+f3 "$folder/bob-said.wav" "Good morning Alice, this is Bob on the second process. Your voice \
arrives within a few hundredths of a second, and mine should reach you just as fast."
rm -f "$folder/raw.wav"

echo "Bob listens, Alice calls. Both talk at once for 12 seconds."
listens() { grep -q Listening "$folder/bob.log"; }
# Another program may have the port.
for _ in $(seq 5); do
  # Below those that Linux hands out by itself.
  port=$((20000 + RANDOM % 12000))
  # The log of an earlier demonstration says that he listens, too.
  : >"$folder/bob.log"
  XDG_CONFIG_HOME=$data XDG_DATA_HOME=$data/bob "$program" listen --answer --once --listen "127.0.0.1:$port" \
    --user bob --capture "file:$folder/bob-said.wav" --playback "file:$folder/bob-heard.wav" \
    >"$folder/bob.log" 2>&1 &
  bob=$!
  for _ in $(seq 100); do
    if listens || ! kill -0 "$bob" 2>/dev/null; then break; fi
    sleep 0.1
  done
  if listens; then break; fi
done
listens || { cat "$folder/bob.log" >&2; exit 1; }
XDG_CONFIG_HOME=$data XDG_DATA_HOME=$data/alice "$program" call "sip:bob@127.0.0.1:$port" --user alice --duration 12 \
  --capture "file:$folder/alice-said.wav" --playback "file:$folder/alice-heard.wav" \
  ${SIDETONE_DEMO_OPTIONS:-}
wait "$bob"

echo
echo "What each heard is in $folder/. Against what the other said (the delay counts from when each"
echo "side's devices started, so it holds the time between ringing and answering as well):"
status=0
printf 'Bob heard Alice:   '
"$program" compare "$folder/alice-said.wav" "$folder/bob-heard.wav" || status=1
printf 'Alice heard Bob:   '
"$program" compare "$folder/bob-said.wav" "$folder/alice-heard.wav" || status=1
if [ $status = 0 ]; then
  echo "The call carried speech in both directions."
else
  echo "The call did not carry speech in both directions." >&2
fi
exit $status
