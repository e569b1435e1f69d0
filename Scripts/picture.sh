#!/bin/bash
# Draws the terminal of a real call as an SVG. Usage: picture.sh PROGRAM FILE.svg
#
# Two processes call each other on this machine, with spoken files as microphones. What the calling
# side printed is drawn as it stood on its terminal.
set -euo pipefail
program=$(realpath "$1")
picture=$2
folder=$(mktemp -d)
export XDG_DATA_HOME=$folder/data
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT

say() { espeak-ng -v "$1" -s 150 -w "$folder/raw.wav" "$3" && sox "$folder/raw.wav" -r 48000 "$2"; }
say en "$folder/alice.wav" "Hello Bob, this is Alice. How do I sound over the network today? I hope well."
say en+f3 "$folder/bob.wav" "Good morning Alice. I hear you as if you sat beside me. Shall we begin?"

"$program" listen --answer --once --listen 127.0.0.1:5060 --user bob \
  --capture "file:$folder/bob.wav" --playback null >"$folder/bob.log" 2>&1 &
for _ in $(seq 50); do grep -q Listening "$folder/bob.log" && break || sleep 0.1; done
command='sidetone call sip:bob@127.0.0.1 --duration 4'
script -qfec "$program call sip:bob@127.0.0.1 --duration 4 --user alice \
  --capture file:$folder/alice.wav --playback null" "$folder/terminal" >/dev/null </dev/null
wait

# The lines as they stood before the call ended: a carriage return begins a line anew, and the
# longest state of each stays.
printf '$ %s\n' "$command" >"$folder/lines"
sed -e '1d' -e '/^Script done/d' -e 's/\x1b\[[0-9;?]*[A-Za-z]//g' "$folder/terminal" |
  awk -v RS='\r\n|\n' '{
    count = split($0, states, "\r")
    line = ""
    for (i = 1; i <= count; i++) if (states[i] ~ /live/) { if (i <= count / 2 + 1) line = states[i] }
      else if (states[i] != "") line = states[i]
    # The picture is of a call that goes on.
    if (line != "" && line !~ /^Call ended/) print line
  }' >>"$folder/lines"

awk '
  function escape(text) {
    gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
    return text
  }
  { lines[NR] = $0; if (length($0) > widest) widest = length($0) }
  END {
    width = widest * 8.43 + 40; height = NR * 20 + 36
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n", \
      width, height, width, height
    print "<title>The terminal of a call</title>"
    print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e2e\"/>"
    print "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"#e0e0e6\" xml:space=\"preserve\">"
    for (i = 1; i <= NR; i++)
      printf "<text x=\"20\" y=\"%d\"%s>%s</text>\n", i * 20 + 12, \
        (i == 1 ? " fill=\"#8fd3a5\"" : ""), escape(lines[i])
    print "</g>"
    print "</svg>"
  }' "$folder/lines" >"$picture"
