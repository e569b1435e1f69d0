# Functions for the scenarios, which follow. Run by dash.
set -u

# What a scenario has left goes to the host, now that nobody speaks.
keep() { mkdir -p /mnt/out; cp -r "$out" /mnt/out/; rm -rf "$out"; }

# A name for what happens now, in seconds of the monotonic clock.
mark() { echo "$(cut -d' ' -f1 /proc/uptime) $*" >> "$out/marks"; }

# Three loopback cards: A is the caller's, B the callee's, C another one.
cards() { modprobe snd-aloop enable=1,1,1 index=0,1,2 id=A,B,C pcm_substreams=1,1,1; }

# Nobody has ever named a headset.
forget() { rm -rf "$HOME/.local/share/sidetone"; }

unplug() { mark "unplug $1"; echo "snd_aloop.$1" > /sys/bus/platform/drivers/snd_aloop/unbind; }
plug() { mark "plug $1"; echo "snd_aloop.$1" > /sys/bus/platform/drivers/snd_aloop/bind; }

# The callee gets no processor for so many microseconds.
freeze() {
  mark freeze
  kill -STOP "$callee"
  usleep "$1"
  kill -CONT "$callee"
  mark thaw
}

# Freezes all programs and puts the drivers of all devices to sleep for a second, as a suspend does, up to the point where the
# machine itself would sleep. The folder shared with the host has to go for that time: 9p does not know how to sleep.
suspend() {
  share=$(basename /sys/bus/virtio/drivers/9pnet_virtio/virtio*)
  umount /mnt
  echo "$share" > /sys/bus/virtio/drivers/9pnet_virtio/unbind
  echo devices > /sys/power/pm_test
  echo 1 > /sys/module/suspend/parameters/pm_test_delay
  mark suspend
  echo freeze > /sys/power/state || mark 'not suspended'
  mark resume
  dmesg | tail -20 > "$out/dmesg"
  echo "$share" > /sys/bus/virtio/drivers/9pnet_virtio/bind
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /mnt
}

# Two programs take all the processor that they get for so many seconds.
busy() {
  mark busy
  loops=
  for program in 1 2; do
    sh -c 'while :; do :; done' &
    loops="$loops $!"
  done
  sleep "$1"
  kill $loops
}

# The callee stands still for so many microseconds, fifty times in half a minute.
stall() { for stall in $(seq 50); do freeze "$1"; usleep 600000; done; }

# The wall clock goes so many seconds forward.
set_clock() { mark "set_clock $1"; date -s "@$(($(date +%s) + $1))" > /dev/null; }

# Another program plays silence through a device until it is released, in the format that the probe has chosen for the cable.
# If it cannot, there is no call.
hold() {
  aplay -q -D "$1" -t raw -f FLOAT_LE -c 1 -r 48000 /dev/zero &
  holder=$!
  sleep 1
  kill -0 "$holder" || kill "$callee"
}
release() { mark release; kill "$holder"; }

# The clock of a card runs at so many 100000ths of its rate.
shift_card() { for device in 0 1; do
  amixer -q -c "$1" cset iface=PCM,name='PCM Rate Shift 100000',device=$device "$2"
done; }

network() { mark "network $*"; tc qdisc replace dev lo root netem "$@"; }

# The far ends of the cables have that sample format, number of channels and rate, and so have the cards.
layout() {
  for card in A B; do cat << CONFIGURATION; done > /etc/asound.conf
pcm.far$card {
  type rate
  converter linear
  slave {
    rate $3
    pcm { type plug slave { pcm "hw:$card,0" format $1 channels $2 rate $3 } }
  }
}
CONFIGURATION
  mouth=farA ear=farB
}

# A mixer that keeps a card silent, and what a call made of it.
mixer() {
  out=/run/out/mixer
  mkdir -p "$out"
  modprobe snd-dummy enable=1 index=3 id=D
  for control in Master Mic; do amixer -q -c D sset $control 0%; done
  amixer -q -c D sset Mic nocap
  amixer -q -c D sset Line 0% nocap
  sidetone check --headset hw:D,0 --seconds 3 --json > "$out/check"
  answer hw:D,0
  sidetone call sip:b@127.0.0.1:5070 --headset null --json --duration 3 \
    > "$out/caller.jsonl" 2> "$out/caller.err"
  wait "$callee"
  for control in Master Mic Line; do amixer -c D sget $control; done > "$out/mixer"
  {
    amixer -c D sget Master | grep -q '\[0%\]' && echo 'the loudspeaker is at the bottom'
    amixer -c D sget Mic | grep -q 'Capture.*\[on\]' || echo 'the microphone is off'
    amixer -c D sget Mic | grep -q '\[0%\]' && echo 'the microphone is at the bottom'
    amixer -c D sget Line | grep -q 'Capture.*\[on\]' && echo 'another input is on'
    grep mixer "$out/check" | grep -q 'the microphone and the loudspeaker of Dummy is off' || echo 'the check did not see it'
  } > "$out/complaints"
  modprobe -r snd-dummy
  keep
}

# A phone is killed while it holds a card, and the next one ends a call as usual: the card's mixer is the same after both, the
# card is free, and what the user has set is as it was.
killed() {
  out=/run/out/killed
  mkdir -p "$out"
  modprobe snd-dummy enable=1 index=3 id=D
  for control in Master Mic; do amixer -q -c D sset $control 0%; done
  amixer -q -c D sset Line 37% nocap
  amixer -c D sget Line > "$out/line"
  for end in killed ended; do
    answer hw:D,0
    sidetone call sip:b@127.0.0.1:5070 --headset null --json > "$out/caller-$end.jsonl" 2> "$out/caller-$end.err" &
    caller=$!
    await '"stats"' "$out/callee.jsonl" "$caller"
    # A far side that is there no more would be waited for.
    if [ $end = killed ]; then kill -KILL "$callee" "$caller"; else kill -TERM "$caller"; fi
    wait "$caller" "$callee"
    amixer -c D contents > "$out/mixer-$end"
    amixer -c D sget Line > "$out/line-$end"
    timeout 5 aplay -q -D plughw:D,0 -d 1 /dev/zero 2> "$out/aplay-$end" || echo "the card is not free: $end"
    cmp -s "$out/line" "$out/line-$end" || echo "another level of the user's: $end"
  done > "$out/complaints"
  {
    cmp -s "$out/mixer-killed" "$out/mixer-ended" || echo 'the mixer is another one than after a call'
    amixer -c D sget Master | grep -q '\[0%\]' && echo 'the card was not used'
    sidetone recents --json > "$out/recents" || echo 'the store does not open'
  } >> "$out/complaints"
  modprobe -r snd-dummy
  keep
}

# A card of which each way has to be switched on, and the use case before them.
profile() {
  out=/run/out/profile
  mkdir -p "$out"
  modprobe snd-dummy enable=1 index=3 id=D
  export ALSA_CONFIG_UCM2=/tmp/ucm2
  mkdir -p $ALSA_CONFIG_UCM2/conf.d/Dummy
  cat << 'CONFIGURATION' > $ALSA_CONFIG_UCM2/ucm.conf
Syntax 4
UseCasePath.card {
  Directory "conf.d/${CardDriver}"
  File "${CardDriver}.conf"
}
CONFIGURATION
  cat << 'CONFIGURATION' > $ALSA_CONFIG_UCM2/conf.d/Dummy/Dummy.conf
Syntax 4
SectionUseCase."HiFi" { File "HiFi.conf" }
CONFIGURATION
  cat << 'CONFIGURATION' > $ALSA_CONFIG_UCM2/conf.d/Dummy/HiFi.conf
SectionVerb {
  EnableSequence [
    cset "name='Line Volume' 0,0"
    cset "name='CD Volume' 0,0"
  ]
  Value { CapturePCM "hw:${CardId},0" }
}
SectionDevice."Headphones" {
  EnableSequence [ cset "name='Synth Volume' 11,11" ]
  Value { PlaybackPCM "hw:${CardId},1" }
}
SectionDevice."Speaker" {
  EnableSequence [ cset "name='CD Volume' 22,22" ]
  Value { PlaybackPCM "hw:${CardId},0" }
}
SectionDevice."Mic" {
  EnableSequence [ cset "name='Line Volume' 33,33" ]
  Value { CapturePCM "hw:${CardId},0" }
}
CONFIGURATION
  for control in Synth CD Line; do amixer -q -c D cset name="$control Volume" 5,5; done
  answer 'hw:D,0 --card-profile'
  sidetone call sip:b@127.0.0.1:5070 --headset null --json --duration 3 \
    > "$out/caller.jsonl" 2> "$out/caller.err"
  wait "$callee"
  for control in Synth CD Line; do
    amixer -c D cget name="$control Volume" | sed -n "s/.*: values=/$control /p"
  done > "$out/mixer"
  {
    grep -q 'Line 33' "$out/mixer" || echo 'the microphone is off'
    grep -q 'CD 22' "$out/mixer" || echo 'the loudspeaker is off'
    grep -q 'Synth 5' "$out/mixer" || echo 'what is not used was switched on'
  } > "$out/complaints"
  unset ALSA_CONFIG_UCM2
  modprobe -r snd-dummy
  keep
}

# What a check says of a card that takes 300 ppm more time than the system's clock.
drifting() {
  out=/run/out/drifting
  mkdir -p "$out"
  shift_card B 100030
  sidetone check --headset hw:B,1 --seconds 6 --json > "$out/check"
  shift_card B 100000
  for side in capture playback; do
    drift=$(sed -n "s/.*\"${side}DriftPpm\":\(-*[0-9]*\).*/\1/p" "$out/check")
    [ "${drift:-0}" -lt -250 ] && [ "$drift" -gt -350 ] || echo "$side: $drift ppm instead of -300"
  done > "$out/complaints"
  keep
}

# Sixty calls over a network that loses and reorders packets, TCP's and TLS's as well: the first with a stranger, the others with
# a phone that is known. Each comes up and ends well.
lossy_calls() {
  out=/run/out/lossy_calls
  mkdir -p "$out"
  forget
  network delay 20ms loss 3% reorder 5%
  for call in $(seq 60); do
    answer "null --complexity 0 --frame 10"
    sidetone call sip:b@127.0.0.1:5070 --headset null --complexity 0 --frame 10 --json --duration 1 \
      > "$out/caller-$call.jsonl" 2> "$out/caller-$call.err" \
      || { echo "call $call: $(cat "$out/caller-$call.err")"; kill "$callee"; }
    wait "$callee" || echo "call $call: the callee ended with $?: $(cat "$out/callee.err")"
    grep -q '"encrypted":true' "$out/caller-$call.jsonl" || echo "call $call: not encrypted"
  done > "$out/complaints"
  tc qdisc del dev lo root
  keep
}

# answer HEADSET: somebody answers the next call.
answer() {
  # What one before it has printed.
  rm -f "$out/callee.jsonl"
  sidetone listen --answer --once --listen 127.0.0.1:5070 --headset $1 --json \
    > "$out/callee.jsonl" 2> "$out/callee.err" &
  callee=$!
  await registered "$out/callee.jsonl" "$callee"
}

# await TEXT FILE PROCESS: until the file has the text, or the process is gone.
await() {
  until grep -qs "$1" "$2"; do
    kill -0 "$3" 2> /dev/null || break
    sleep 0.1
  done
}

# scenario NAME SECONDS FAULTS: a call from A to B; what is heard of it, and both sides' events.
# Variables: options, devices (the caller's), before (commands), cables (commands that name the far ends of their cables).
scenario() {
  name=$1 seconds=$2 faults=$3 mouth=hw:A,0 ear=hw:B,0
  out=/run/out/$name
  mkdir -p "$out"
  eval "$cables"
  chrt -f 50 fault-probe "$out" $((seconds + 6)) $mouth $ear hw:C,1 > "$out/probe.log" 2>&1 &
  probe=$!
  # Three minutes of the machine's own time are more than anything takes.
  ( sleep $((seconds + 180)); mark 'did not end'; ps > "$out/processes"; killall -9 sidetone fault-probe ) &
  watch=$!
  await ready "$out/probe.log" "$probe"
  # The emulated processor is slow: a light codec, and packets of one length.
  options="$options --complexity 0 --frame 10 --json"
  sidetone listen --answer --once --listen 127.0.0.1:5070 --headset hw:B,1 $options \
    > "$out/callee.jsonl" 2> "$out/callee.err" &
  callee=$!
  await registered "$out/callee.jsonl" "$callee"
  eval "$before"
  sidetone call sip:b@127.0.0.1:5070 $devices $options --duration "$seconds" \
    > "$out/caller.jsonl" 2> "$out/caller.err" &
  caller=$!
  await '"connected"' "$out/caller.jsonl" "$caller"
  mark connected
  eval "$faults"
  wait "$caller"; caller_status=$?; echo $caller_status > "$out/caller.status"
  # It may never have been called.
  [ $caller_status = 0 ] || kill "$callee"
  wait "$callee"; echo $? > "$out/callee.status"
  wait "$probe"
  kill "$watch"
  tc qdisc del dev lo root 2> /dev/null
  shift_card B 100000
  keep
}

# A headset that was named once, and what is chosen when none is named.
memory() {
  out=/run/out/memory
  mkdir -p "$out"
  # What the scenarios before it have named.
  forget
  answer null
  sidetone call sip:b@127.0.0.1:5070 --capture hw:C,1 --playback null --json --duration 2 \
    > "$out/caller.jsonl" 2> "$out/caller.err"
  wait "$callee"
  sidetone devices > "$out/devices"
  unplug 2
  sidetone devices > "$out/without"
  plug 2
  {
    grep -q 'hw:C,1 would be the microphone: chosen the last time' "$out/devices" \
      || echo 'the microphone was forgotten'
    grep -q 'loudspeaker: chosen' "$out/devices" && echo 'a made-up loudspeaker was remembered'
    grep -q 'hw:C,1 would' "$out/without" && echo 'what is not plugged in would be used'
  } > "$out/complaints"
  keep
}

# A headset that was never there before is plugged in during a call of somebody who has named none, and pulled again.
newcomer() {
  out=/run/out/newcomer
  mkdir -p "$out"
  forget
  answer null
  sidetone call sip:b@127.0.0.1:5070 --period 5 --complexity 0 --json --duration 12 \
    > "$out/caller.jsonl" 2> "$out/caller.err" &
  caller=$!
  await '"connected"' "$out/caller.jsonl" "$caller"
  modprobe snd-dummy enable=1 index=3 id=Headset
  sleep 3
  echo snd_dummy.0 > /sys/bus/platform/drivers/snd_dummy/unbind
  sleep 2
  grep routeChanged "$out/caller.jsonl" > "$out/routes"
  # The same headset at another port.
  modprobe -r snd-dummy
  modprobe snd-dummy enable=1 index=5 id=Headset
  wait "$caller"; caller_status=$?
  wait "$callee"
  modprobe -r snd-dummy
  {
    [ $caller_status = 0 ] || echo 'the call did not end well'
    grep -q 'microphone.*Headset.*newDeviceAvailable' "$out/routes" \
      || echo 'the headset was not used'
    grep oldDeviceUnavailable "$out/routes" | grep -vq Headset \
      || echo 'nothing stood in for the headset'
    grep routeChanged "$out/caller.jsonl" | tail -1 | grep -q 'microphone.*Headset.*newDeviceAvailable' \
      || echo 'the headset was not known at another port'
  } > "$out/complaints"
  keep
}

# wire NUMBER SECONDS: one of two machines on a wire, each with a headset; the first calls the second.
wire() {
  number=$1 seconds=$2
  out=/run/out
  mkdir -p "$out"
  modprobe virtio_net
  ip addr add 10.9.0.$number/24 dev eth0
  ip link set eth0 up
  chrt -f 50 fault-probe "$out" $((seconds + 25)) hw:A,0 hw:A,0 none > "$out/probe.log" 2>&1 &
  probe=$!
  await ready "$out/probe.log" "$probe"
  options='--headset hw:A,1 --period 4 --complexity 0 --frame 10 --json'
  if [ "$number" = 2 ]; then
    sidetone listen --answer --once --listen 10.9.0.2:5070 $options \
      > "$out/events.jsonl" 2> "$out/events.err"
  else
    # The other machine may still be starting, and a call that it has just begun to listen for may fail.
    sleep 5
    for attempt in 1 2 3 4 5 6; do
      sidetone call sip:b@10.9.0.2:5070 --listen 10.9.0.1:5070 $options --duration "$seconds" \
        > "$out/events.jsonl" 2> "$out/events.err" && break
      sleep 1
    done
  fi
  wait "$probe"
}

# holdings FILE PROCESS: appends the time, and how many descriptors, threads and pages of memory the process has.
holdings() {
  echo "$(cut -d' ' -f1 /proc/uptime) $(ls /proc/$2/fd | wc -l) $(ls /proc/$2/task | wc -l)" \
    "$(cut -d' ' -f2 /proc/$2/statm)" >> "$1"
}

# listen_closely FOLDER SECONDS: what is said and heard for so long.
listen_closely() {
  mkdir -p "$1"
  chrt -f 50 fault-probe "$1" "$2" hw:A,0 hw:B,0 hw:C,1 > "$1/probe.log" 2>&1
}

# long SECONDS: a call that stands so long, heard at its beginning and its end, with what both programs hold meanwhile.
long() {
  seconds=$1
  out=/run/out/long
  mkdir -p "$out"
  options='--period 4 --complexity 0 --frame 10 --json'
  sidetone listen --answer --once --listen 127.0.0.1:5070 --headset hw:B,1 $options \
    > "$out/callee.jsonl" 2> "$out/callee.err" &
  callee=$!
  await registered "$out/callee.jsonl" "$callee"
  sidetone call sip:b@127.0.0.1:5070 --headset hw:A,1 $options --duration "$seconds" \
    > "$out/caller.jsonl" 2> "$out/caller.err" &
  caller=$!
  await '"connected"' "$out/caller.jsonl" "$caller"
  listen_closely "$out/begin" 20
  # Thirty looks, once a second in a short call.
  for look in $(seq 30); do
    for side in caller callee; do eval "holdings $out/$side.holdings \$$side"; done
    sleep $(((seconds - 60) / 30))
  done
  listen_closely "$out/end" 20
  wait "$caller"; echo $? > "$out/caller.status"
  wait "$callee"; echo $? > "$out/callee.status"
  for part in begin end; do cp "$out"/*.jsonl "$out/$part/"; done
  keep
}
