#!/usr/bin/env bash
# Package: libnice 0.1.21 (Debian 12 package libnice10 0.1.21-1), nice_agent_parse_remote_sdp(), the
# one call that gives it a far end's whole SDP; two of its agents on one machine.
# Expected: a candidate line with a host name that is not supported is ignored, alone (RFC 8839
# section 5.1, "MUST ignore"): browsers give such a name, "....local", to hide their own address.
# ice-ufrag and ice-pwd may stand before the first m= line, for all media (section 5.4), and the
# lines of an SDP end with CR and LF (RFC 8866 section 5).
# Instead: the first line that it cannot use ends the reading. It returns -1, keeps the candidates
# before that line and drops all after it, good ones too: the same name is harmless as the last
# candidate and ends the call as the first. With ice-ufrag before m=, or with CR LF, it takes nothing.
# What it writes itself (LF alone) is read. Which line it was, or that some were taken, is not told.
# Why it matters: a program with this call connects to its own kind, and to others by the order of
# their lines: one name at the end does no harm if -1 is taken for a warning, one at the start, as a
# browser's host candidate is, leaves it without any address of the far end, and the call is silent.
# Give it the lines one by one (nice_agent_parse_remote_candidate_sdp() refuses just the one), with
# the line ends cut off and the credentials set by nice_agent_set_remote_credentials().
# Output seen (each of the two agents gets the other's SDP, changed so):
#   as libnice writes it            returns  1, candidates taken 1 of 1, connected
#   name.local as last candidate    returns -1, candidates taken 1 of 1, connected
#   name.local as first candidate   returns -1, candidates taken 0 of 1, not connected
#   ice-ufrag, -pwd before m=       returns -1, candidates taken 0 of 1, not connected
#   lines end with CR LF            returns -1, candidates taken 0 of 1, not connected
#   name.local first, line by line  returns  1, candidates taken 1 of 1, connected
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p deb/partial
# The library under test is pinned; GLib's and other libraries come as Debian has them.
package=libnice10=0.1.21-1
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Cache::archives="$dir/deb" \
    --no-install-recommends --reinstall --download-only install $package > /dev/null
for deb in deb/*.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes as C, glob, sys, time

nice = C.CDLL(glob.glob("root/usr/lib/*/libnice.so.10")[0])
glib, gobject = C.CDLL("libglib-2.0.so.0"), C.CDLL("libgobject-2.0.so.0")
pointer, READY = C.c_void_p, 4
for name in ("agent_new", "agent_generate_local_sdp", "address_new", "agent_get_remote_candidates",
             "agent_parse_remote_candidate_sdp"):
    getattr(nice, "nice_" + name).restype = pointer
glib.g_slist_length.restype, glib.g_slist_append.restype = C.c_uint, pointer
RECEIVED = C.CFUNCTYPE(None, pointer, C.c_uint, C.c_uint, C.c_uint, pointer, pointer)
received = RECEIVED(lambda *rest: None)

def turn_until(test, seconds):
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        while glib.g_main_context_iteration(None, 0):
            pass
        time.sleep(0.005)
    return test()

class Agent:
    def __init__(self, controlling):
        self.agent = pointer(nice.nice_agent_new(None, 0))        # 0: RFC 5245 and later
        gobject.g_object_set(self.agent, b"upnp", C.c_int(0), b"ice-tcp", C.c_int(0),
                             b"controlling-mode", C.c_int(controlling), None)
        self.stream = nice.nice_agent_add_stream(self.agent, 1)
        nice.nice_agent_set_stream_name(self.agent, self.stream, b"audio")
        address = pointer(nice.nice_address_new())
        nice.nice_address_set_from_string(address, b"127.0.0.1")
        nice.nice_agent_add_local_address(self.agent, address)
        nice.nice_agent_attach_recv(self.agent, self.stream, 1, None, received, None)
        nice.nice_agent_gather_candidates(self.agent, self.stream)
        turn_until(lambda: "a=candidate:" in self.sdp(), 5)

    def sdp(self):
        return C.string_at(nice.nice_agent_generate_local_sdp(self.agent)).decode()

    def take(self, text):
        return nice.nice_agent_parse_remote_sdp(self.agent, text.encode())

    def take_lines(self, text):
        value = {line.split(":")[0]: line.split(":")[1] for line in text.split("\n") if ":" in line}
        nice.nice_agent_set_remote_credentials(self.agent, self.stream, value["a=ice-ufrag"].encode(),
                                               value["a=ice-pwd"].encode())
        known = None
        for line in text.split("\n"):
            if line.startswith("a=candidate:"):
                candidate = nice.nice_agent_parse_remote_candidate_sdp(self.agent, self.stream, line.encode())
                if candidate:
                    known = pointer(glib.g_slist_append(known, pointer(candidate)))
        return nice.nice_agent_set_remote_candidates(self.agent, self.stream, 1, known)

    def candidates(self):
        return glib.g_slist_length(pointer(nice.nice_agent_get_remote_candidates(self.agent, self.stream, 1)))

    def ready(self):
        return nice.nice_agent_get_component_state(self.agent, self.stream, 1) == READY

def first(text):
    return text.replace("a=candidate:", NAME + "a=candidate:", 1)

def session_level(text):
    lines = text.rstrip("\n").split("\n")
    lines.sort(key=lambda line: not line.startswith("a=ice-"))    # the others stay in their order
    return "\n".join(lines) + "\n"

NAME = "a=candidate:9 1 UDP 2130706431 5e9c2b1a-1f0e-4f5e-9c1b-aa5b0ad0d0d0.local 50000 typ host\n"
good = True
for title, change, taken, take in (
        ("as libnice writes it", lambda text: text, (1, 1, True), Agent.take),
        ("name.local as last candidate", lambda text: text.rstrip("\n") + "\n" + NAME, (-1, 1, True), Agent.take),
        ("name.local as first candidate", first, (-1, 0, False), Agent.take),
        ("ice-ufrag, -pwd before m=", session_level, (-1, 0, False), Agent.take),
        ("lines end with CR LF", lambda text: text.replace("\n", "\r\n"), (-1, 0, False), Agent.take),
        ("name.local first, line by line", first, (1, 1, True), Agent.take_lines)):
    one, other = Agent(1), Agent(0)
    texts = change(one.sdp()), change(other.sdp())
    returned = {take(other, texts[0]), take(one, texts[1])}
    kept = {one.candidates(), other.candidates()}
    done = turn_until(lambda: one.ready() and other.ready(), 15 if taken[2] else 3)
    print("%-31s returns %2d, candidates taken %d of 1, %s"
          % (title, max(returned), max(kept), "connected" if done else "not connected"), flush=True)
    good = good and (returned, kept, done) == ({taken[0]}, {taken[1]}, taken[2])
    for end in one, other:
        nice.nice_agent_remove_stream(end.agent, end.stream)
if not good:
    sys.exit("CHANGED: what libnice takes of a far end's SDP")
print("as described")
PY
folders=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' | sort -u | paste -sd:)
LD_LIBRARY_PATH="$folders" timeout 55 python3 run.py
