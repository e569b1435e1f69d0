#!/usr/bin/env bash
# Package: Kamailio 5.6.3 (Debian 12 package kamailio 5.6.3-2), tmrec_match() of its module tmrec: does a
# moment lie in a period that comes again every day or week (office hours, night service, weekend)?
# Expected: a rule has a start and a duration as in RFC 2445, and the period lasts for that duration
# from each start (sections 4.3.9 and 4.8.5.4). The module's documentation wants one thing of it: the
# duration must be so small that a period does not run into the next one. So "18:00, 14 hours, daily"
# is the night, up to 08:00.
# Instead: a period that comes again ends at midnight, whatever its duration is. The night is 18:00 to
# 24:00, and Friday's night or a weekend of 63 hours ends with the evening of Friday. The same duration
# without a frequency does go over midnight, and so do the hours of time_period_match() in the same
# module.
# Why it matters: calls between midnight and morning go the way of the day, to phones where nobody is,
# and past the answering machine or the night desk; on Saturday and Sunday they do so all day long. A
# test in office hours or in the evening shows nothing. Write two rules, the second from 00:00 on and
# for the next day of the week, or use time_period_match().
# Output seen (January 2027, all in UTC; the 1st is a Friday):
#   rule                                         Fri 17:59  Fri 18:01  Fri 23:59  Sat 00:01  Sat 07:59  Sun 12:00
#   20260101T180000|PT14H|daily                      -        within     within       -          -          -
#   20260101T180000|PT14H|weekly|||FR                -        within     within       -          -          -
#   20260101T180000|PT63H|weekly|||FR                -        within     within       -          -          -
#   20270101T180000|PT14H                            -        within     within     within     within       -
#   20270101T180000|PT63H                            -        within     within     within     within     within
#   hr{18-7}                                         -        within     within     within     within       -
#   20260101T000000|PT8H|daily                       -          -          -        within     within       -
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download kamailio=5.6.3-2
dpkg -x kamailio_*.deb root
cat > run.py <<'PY'
import calendar, glob, os, socket, subprocess, sys

CONFIG = """debug=-2
log_stderror=yes
children=1
disable_tcp=yes
auto_aliases=no
loadmodule "pv.so"
loadmodule "sl.so"
loadmodule "tmrec.so"
request_route {
    $var(moment) = $(hdr(X-Moment){s.int});
    if ($rU == "period") {
        if (time_period_match("$hdr(X-Rule)", "$var(moment)")) sl_send_reply("200", "Within");
    } else {
        if (tmrec_match("$hdr(X-Rule)", "$var(moment)")) sl_send_reply("200", "Within");
    }
    sl_send_reply("480", "Outside");
}
"""

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(1)
    return s

spare = bound()
at = spare.getsockname()
spare.close()
asked = 0

def within(user, rule, moment):
    """What the proxy says of this moment (year, month, day, hour, minute)."""
    global asked
    for _ in range(20):                           # it may still be starting
        asked += 1
        with bound() as phone:
            here = "127.0.0.1:%d" % phone.getsockname()[1]
            phone.sendto("\r\n".join(
                [f"OPTIONS sip:{user}@127.0.0.1 SIP/2.0", f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{asked}",
                 "Max-Forwards: 70", "From: <sip:a@127.0.0.1>;tag=1", "To: <sip:b@127.0.0.1>",
                 f"Call-ID: {asked}@{here}", "CSeq: 1 OPTIONS", f"X-Rule: {rule}",
                 f"X-Moment: {calendar.timegm((*moment, 0))}", "Content-Length: 0", "", ""]).encode(), at)
            try:
                line = phone.recv(65535).split(b"\r\n")[0]
            except (TimeoutError, ConnectionRefusedError):
                continue
        if line == b"SIP/2.0 200 Within":
            return True
        if line == b"SIP/2.0 480 Outside":
            return False
        sys.exit("CHANGED or not run: %r" % line)
    sys.exit("CHANGED or not run: no answer")

MOMENTS = (("Fri 17:59", (2027, 1, 1, 17, 59)), ("Fri 18:01", (2027, 1, 1, 18, 1)),
           ("Fri 23:59", (2027, 1, 1, 23, 59)), ("Sat 00:01", (2027, 1, 2, 0, 1)),
           ("Sat 07:59", (2027, 1, 2, 7, 59)), ("Sun 12:00", (2027, 1, 3, 12, 0)))
RULES = (("recurrence", "20260101T180000|PT14H|daily", "011000"),
         ("recurrence", "20260101T180000|PT14H|weekly|||FR", "011000"),
         ("recurrence", "20260101T180000|PT63H|weekly|||FR", "011000"),
         ("recurrence", "20270101T180000|PT14H", "011110"),
         ("recurrence", "20270101T180000|PT63H", "011111"),
         ("period", "hr{18-7}", "011110"),
         ("recurrence", "20260101T000000|PT8H|daily", "000110"))
with open("kamailio.cfg", "w") as cfg:
    cfg.write(CONFIG)
server = subprocess.Popen(
    ["root/usr/sbin/kamailio", "-DD", "-f", "kamailio.cfg", "-L",
     glob.glob("root/usr/lib/*/kamailio/modules")[0], "-l", "udp:127.0.0.1:%d" % at[1],
     "-m", "32", "-M", "4", "-Y", "."], env=dict(os.environ, TZ="UTC"),
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    print("{:<44} {}".format("rule", "  ".join(name for name, _ in MOMENTS)))
    for user, rule, want in RULES:
        got = [within(user, rule, moment) for _, moment in MOMENTS]
        print("{:<44} {}".format(rule, "  ".join(("within" if yes else "-").center(9) for yes in got)).rstrip(),
              flush=True)
        if got != [digit == "1" for digit in want]:
            sys.exit("CHANGED: this line is not as described")
    print("as described")
finally:
    server.terminate()
    server.wait()
PY
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*/kamailio)
export LD_LIBRARY_PATH
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
