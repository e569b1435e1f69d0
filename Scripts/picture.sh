#!/bin/bash
# Draws the terminal of a real call as an SVG. Usage: picture.sh PROGRAM FILE.svg
#
# Two processes call each other on this machine, with spoken files as microphones. The calling side's
# terminal is drawn as it stands after twelve seconds.
set -euo pipefail
program=$(realpath "$1")
picture=$2
folder=$(mktemp -d)
export XDG_DATA_HOME=$folder/data
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT

say() { espeak-ng -v "$1" -s 150 -w "$folder/raw.wav" "$3" && sox "$folder/raw.wav" -r 48000 "$2"; }
say en "$folder/alice.wav" "Hello Bob, this is Alice. How do I sound over the network today? I hope well. \
Here the weather is fine, the coffee is hot and the new headset has come. Shall we go through the numbers together?"
say en+f3 "$folder/bob.wav" "Good morning Alice. I hear you as if you sat beside me. Shall we begin? \
I have the numbers of last week here, and those of the week before, and they are better than we thought they would be."

"$program" listen --answer --once --listen 127.0.0.1:5060 --user bob \
  --capture "file:$folder/bob.wav" --playback null >"$folder/bob.log" 2>&1 &
for _ in $(seq 50); do grep -q Listening "$folder/bob.log" && break || sleep 0.1; done
command='sidetone call sip:bob@127.0.0.1'
terminal() { tmux -f /dev/null -S "$folder/tmux" "$@"; }
terminal new-session -d -x 84 -y 24 "LC_ALL=C.UTF-8 '$program' call sip:bob@127.0.0.1 --user alice \
  --capture 'file:$folder/alice.wav' --playback null"
sleep 12
{ printf '$ %s\n' "$command"; terminal capture-pane -p; } >"$folder/lines"
terminal kill-server

awk '
  function escape(text) {
    gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
    return text
  }
  { lines[NR] = $0; if (length($0) > widest) widest = length($0) }
  END {
    width = 84 * 8.43 + 40; height = NR * 17 + 36
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n", \
      width, height, width, height
    print "<title>The terminal of a call</title>"
    print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e2e\"/>"
    print "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"#e0e0e6\" xml:space=\"preserve\">"
    for (i = 1; i <= NR; i++)
      printf "<text x=\"20\" y=\"%d\"%s>%s</text>\n", i * 17 + 14, \
        (i == 1 ? " fill=\"#8fd3a5\"" : ""), escape(lines[i])
    print "</g>"
    print "</svg>"
  }' "$folder/lines" >"$picture"
