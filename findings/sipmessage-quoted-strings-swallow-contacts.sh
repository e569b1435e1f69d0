#!/usr/bin/env bash
# Package: sipmessage 0.7.1 (PyPI; parses and writes SIP messages).
# Expected: a quoted string ends at the next quote that has no backslash before it, and a comma
# separates values, or parameters of a challenge, only outside of one (RFC 3261 sections 7.3.1 and
# 25.1). qop in a challenge is itself a quoted list, as in qop="auth,auth-int" (25.1, qop-options).
# Instead: in addresses a quoted string lasts to the last quote of the whole line. Of two contacts
# with a quoted name, or with a +sip.instance (RFC 5626), one comes out, made of parts of both, and
# nothing is raised. In a challenge it is the other way round: every comma splits, so that one
# offering "auth,auth-int", or with a comma in its realm, is refused as not valid.
# Why it matters: the 200 to a REGISTER lists all bindings, often on one line: here one phone's URI
# gets the other's instance, and a client sees its own binding gone or with a wrong expiry. A server
# that offers auth-int beside auth locks such a client out. Write one header line for each contact.
# Output seen:
#   <sip:1@a>;expires=90, <sip:2@a>;expires=60
#     sip:1@a expires 90, sip:2@a expires 60
#   "Desk" <sip:1@a>;expires=90, "Hall" <sip:2@a>;expires=60
#     sip:2@a expires 60, name: Desk" <sip:1@a>;expires=90, "Hall
#   <sip:1@a>;+sip.instance="<urn:x:1>";expires=9, <sip:2@a>;+sip.instance="<urn:x:2>";expires=6
#     sip:1@a expires 6, instance: "<urn:x:2>"
#   qop="auth": taken
#   qop="auth,auth-int": AuthParameters are not valid
#   realm="Berlin, Hall": AuthParameters are not valid
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --target "$dir/lib" sipmessage==0.7.1
cat > "$dir/run.py" <<'PY'
import sys
from sipmessage import AuthChallenge, Message

def check(good, text):
    print(text, flush=True)
    if not good:
        sys.exit("CHANGED: this line is not as described")

def contacts(value):
    """What comes out of a Contact line, in words."""
    lines = ["SIP/2.0 200 OK", "Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1",
             "From: <sip:a@a>;tag=1", "To: <sip:b@a>;tag=2", "Call-ID: one", "CSeq: 1 REGISTER",
             "Contact: " + value, "Content-Length: 0"]
    texts = []
    for found in Message.parse("\r\n".join(lines + ["", ""]).encode()).contact:
        text = f"{found.uri} expires {found.parameters['expires']}"
        if found.name:
            text += ", name: " + found.name
        if "+sip.instance" in found.parameters:
            text += ", instance: " + found.parameters["+sip.instance"]
        texts.append(text)
    return ", ".join(texts)

for value, want in (
        ("<sip:1@a>;expires=90, <sip:2@a>;expires=60", "sip:1@a expires 90, sip:2@a expires 60"),
        ('"Desk" <sip:1@a>;expires=90, "Hall" <sip:2@a>;expires=60',
         'sip:2@a expires 60, name: Desk" <sip:1@a>;expires=90, "Hall'),
        ('<sip:1@a>;+sip.instance="<urn:x:1>";expires=9, '
         '<sip:2@a>;+sip.instance="<urn:x:2>";expires=6',
         'sip:1@a expires 6, instance: "<urn:x:2>"')):
    got = contacts(value)
    check(got == want, f"{value}\n  {got}")
refused = "AuthParameters are not valid"
for parameters, want in (('qop="auth"', "taken"), ('qop="auth,auth-int"', refused),
                         ('realm="Berlin, Hall"', refused)):
    realm = "" if "realm" in parameters else 'realm="Hall", '
    try:
        AuthChallenge.parse('Digest nonce="n1", ' + realm + parameters)
        got = "taken"
    except ValueError as error:
        got = str(error)
    check(got == want, f"{parameters}: {got}")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || {
    echo "CHANGED or not run: status $?"; exit 1; }
