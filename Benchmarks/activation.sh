#!/bin/bash
# From fulfil() to didActivate with the devices running, on the exact clock. Usage: activation.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/jack-rig.sh"
start_rig 60 1
"$here/.build/release/call-activation" headsetA
stop_rig
