# An exact sound clock: JACK's dummy driver, ALSA's jack plugin and headset-rig. Sourced, with $here set.
#
# headsetA and headsetB are ALSA devices then; $work is a folder that goes with the script.
work=$(mktemp -d)
export JACK_DEFAULT_SERVER=sidetone-$$
export JACK_NO_AUDIO_RESERVATION=1
# The user's lists are not the benchmarks' business.
export XDG_DATA_HOME=$work
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

cat >"$work/asound.conf" <<CONF
</usr/share/alsa/alsa.conf>
pcm.headsetA { type jack playback_ports { 0 rig:spk0 } capture_ports { 0 rig:mic0 } }
pcm.headsetB { type jack playback_ports { 0 rig:spk1 } capture_ports { 0 rig:mic1 } }
CONF
export ALSA_CONFIG_PATH=$work/asound.conf

# Starts server and rig: start_rig SECONDS SKIPPED. The process of the rig is $recorder.
start_rig() {
  jackd -n "$JACK_DEFAULT_SERVER" -R -P70 -S -d dummy -r 48000 -p 128 >"$work/jackd.log" 2>&1 &
  server=$!
  sleep 1.5
  "$here/.build/release/headset-rig" "$1" "$2" >"$work/rig.log" 2>&1 &
  recorder=$!
  for _ in $(seq 50); do grep -q ready "$work/rig.log" && break || sleep 0.1; done
}

stop_rig() {
  kill "$server"
  wait "$server" 2>/dev/null || true
}
