#!/usr/bin/env bash
# Package: sippy 2.5.0 (PyPI; SIP stack and B2BUA).
# Expected: a header in its compact form means the same as in the long one, and every
# implementation takes both (RFC 3261 section 7.3.3); "k" is Supported (section 20.37).
# Instead: sippy reads the compact forms v, f, t, i, m, l, c and r, but takes "k" for an unknown
# header: the request then supports nothing. It writes that form itself: a REGISTER with
# "Supported: path", put out by sippy in its own compact mode and read by sippy again, has no
# Supported any more, so its StatefulProxy adds no Path to it.
# Why it matters: a phone that shortens its headers to stay below the UDP size loses by that what
# it says in Supported (path, 100rel, timer), with no error. Shorten the others, never Supported.
# Output seen:
#   long form: supported ['path'], Path added by the proxy: 1
#   compact mode writes: v f t i m k l
#   read again: via 1, from 1, to 1, call-id 1, contact 1, supported 0
#   compact form: Path added by the proxy: 0
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" sippy==2.5.0 elperiodic==1.5.2 g722==1.2.8 rtpsynth==1.3.3 \
    pycryptodome==4.4.0 websockets==17.4 flask==3.1.3 Flask-Login==0.6.3
cat > "$dir/run.py" <<'PY'
import contextlib, io, sys
from sippy.SipRequest import SipRequest
from sippy.StatefulProxy import StatefulProxy

def check(good, text):
    print(text, flush=True)
    if not good:
        print("CHANGED: this line is not as described")
        sys.exit(1)

class Manager:                 # stands where the transactions are: keeps what the proxy would send
    def newTransaction(self, request, answered):
        self.sent = request

def paths(request):            # how many Path headers the proxy puts on it
    manager = Manager()
    with contextlib.redirect_stdout(io.StringIO()):
        StatefulProxy({"_sip_tm": manager}, "127.0.0.1").recvRequest(request)
    return manager.sent.countHFs("path")

text = "\r\n".join([
    "REGISTER sip:127.0.0.1 SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK1", "Max-Forwards: 70",
    "From: <sip:a@127.0.0.1>;tag=1", "To: <sip:a@127.0.0.1>", "Call-ID: one@127.0.0.1", "CSeq: 1 REGISTER",
    "Contact: <sip:a@127.0.0.1:5070>", "Supported: path", "Content-Length: 0", "", ""])
first = SipRequest(text)
caps = first.getHFBody("supported").caps
added = paths(SipRequest(text))
check(caps == ["path"] and added == 1, f"long form: supported {caps}, Path added by the proxy: {added}")
short = first.localStr((("127.0.0.1", 5060), "udp"), compact=True)
names = [l.split(":")[0] for l in short.split("\r\n")[1:] if ":" in l]
letters = [n for n in names if len(n) == 1]
check(letters == list("vftimkl"), "compact mode writes: " + " ".join(letters))
again = SipRequest(short)
count = {n: again.countHFs(n) for n in
         ("via", "from", "to", "call-id", "contact", "supported")}
check([*count.values()] == [1, 1, 1, 1, 1, 0],
      "read again: " + ", ".join(f"{n} {c}" for n, c in count.items()))
added = paths(SipRequest(short))
check(added == 0, f"compact form: Path added by the proxy: {added}")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
