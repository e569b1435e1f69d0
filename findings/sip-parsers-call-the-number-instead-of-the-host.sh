#!/usr/bin/env bash
# SIP libraries and their URI parsers: Twisted 26.10.0 (twisted.protocols.sip), rfcvoip 2.10.3,
# aiosipua 0.7.1, opensip 0.2.1, simple-sip-client 0.0.3 (all PyPI), and Net::SIP 0.835 (Debian 12
# package libnet-sip-perl 0.835-1); for comparison sipmessage 0.7.1 (PyPI).
# Expected: the user part of a SIP URI may hold ";" and "?" as they are (user-unreserved in RFC 3261
# section 25.1), so the first thing to look for is the "@". A telephone number with parameters comes
# into a SIP URI that way: tel:+358-555-1234567;postd=pp22 becomes
# sip:+358-555-1234567;postd=pp22@foo.com;user=phone (section 19.1.6); likewise ";phone-context="
# and ";ext=" (RFC 3966) and the ";npdi;rn=" of ported numbers (RFC 4694).
# Seen: six of the seven cut at the first ";". What is before it, the number, is the host, there is
# no user and no port, and the true host is the tail of a parameter. No error. Twisted, which puts
# "user" first when it writes a URI, even moves the ;user=phone of the host into the user part.
# With "?" it is the same in four of them.
# It matters to a phone that dials such numbers, or passes on a Contact, Refer-To or P-Asserted-
# Identity that a carrier made: a server on one of these asks the DNS for a host called
# +358-555-1234567, or does not know its own user. Percent-escape ";" and "?" in the user part (%3B,
# %3F), and all seven find the host; but a strict server takes that for another user (section
# 19.1.4), so leave the parameters out where the number alone will do.
# Output:
#   sip:+358-555-1234567@192.0.2.1:5070;user=phone
#     all seven         user +358-555-1234567, host 192.0.2.1
#   sip:+358-555-1234567;postd=pp22@192.0.2.1:5070;user=phone
#     sipmessage        user +358-555-1234567;postd=pp22, host 192.0.2.1
#     Twisted           user None, host +358-555-1234567
#     rfcvoip           user None, host +358-555-1234567
#     (and so do aiosipua, opensip, simple-sip-client and Net::SIP)
#   sip:+358-555-1234567?x@192.0.2.1:5070;user=phone
#     sipmessage        user +358-555-1234567?x, host 192.0.2.1
#     rfcvoip           user None, host +358-555-1234567
#     (Twisted and Net::SIP like the first, aiosipua, opensip and simple-sip-client like the second)
#   sip:+358-555-1234567%3Bpostd=pp22@192.0.2.1:5070;user=phone
#     all seven         host 192.0.2.1
#   Twisted writes sip:+358-555-1234567;user=phone;postd=pp22@192.0.2.1
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" Twisted==26.10.0 zope.interface==8.7 attrs==26.1.0 Automat==25.4.16 \
    constantly==23.10.4 hyperlink==21.0.0 incremental==24.11.0 typing_extensions==4.16.0 \
    rfcvoip==2.10.3 aiosipua==0.7.1 opensip==0.2.1 simple-sip-client==0.0.3 sipmessage==0.7.1
apt-get -qq -o APT::Sandbox::User=root download libnet-sip-perl=0.835-1
dpkg -x libnet-sip-perl_*.deb root
cat > run.py <<'PY'
import os, subprocess, sys
import aiosipua.header_codec, opensip.headers, rfcvoip.SIPTransport, simple_sip.sip_message
import sipmessage, twisted.protocols.sip

NUMBER = "+358-555-1234567"
PERL = ("my ($host, $user) = Net::SIP::Util::sip_uri2parts($ARGV[0]); $host =~ s{:\\d+$}{}; "
        "print $user // '', ' ', $host")
rfc, = [value for value in vars(rfcvoip.SIPTransport).values() if hasattr(value, "parse_uri")]

def perl(uri):
    out = subprocess.run(["perl", "-MNet::SIP::Util", "-e", PERL, uri], check=True, timeout=30,
                         capture_output=True, text=True).stdout
    user, host = out.split(" ")
    return user or None, host

def of(parse, user="user"):
    def both(uri):
        value = parse(uri)
        return getattr(value, user), value.host
    return both

parsers = {"sipmessage": of(sipmessage.URI.parse),
           "Twisted": of(twisted.protocols.sip.parseURL, "username"),
           "rfcvoip": of(rfc.parse_uri),
           "aiosipua": of(aiosipua.header_codec.parse_uri),
           "opensip": of(opensip.headers.URI.parse),
           "simple-sip-client": of(simple_sip.sip_message.parse_sip_uri),
           "Net::SIP": perl}
good = True
for title, uri, wrong in (
        ("plain", f"sip:{NUMBER}@192.0.2.1:5070;user=phone", 0),
        ("with ;", f"sip:{NUMBER};postd=pp22@192.0.2.1:5070;user=phone", 6),
        ("with ?", f"sip:{NUMBER}?x@192.0.2.1:5070;user=phone", 4),
        ("with %3B", f"sip:{NUMBER}%3Bpostd=pp22@192.0.2.1:5070;user=phone", 0)):
    print(uri)
    found = 0
    for name, parse in parsers.items():
        user, host = parse(uri)
        print("  %-17s user %s, host %s" % (name, user, host), flush=True)
        found += host == NUMBER
        good = good and ((host == NUMBER and user is None) or host == "192.0.2.1")
        good = good and (name != "sipmessage" or host == "192.0.2.1")
    good = good and found == wrong
written = twisted.protocols.sip.parseURL(f"sip:{NUMBER};postd=pp22@192.0.2.1;user=phone").toString()
print("Twisted writes", written)
if not good or written != f"sip:{NUMBER};user=phone;postd=pp22@192.0.2.1":
    sys.exit("CHANGED: which part of a SIP URI these take for the host")
PY
PERL5LIB="$dir/root/usr/share/perl5" PYTHONPATH="$dir/lib" timeout 80 python3 -W ignore run.py
