#!/usr/bin/env bash
# Package: Kamailio 5.6.3 (Debian 12 package kamailio 5.6.3-2), tmrec_match() of its module tmrec, which
# routes calls by date: is this day one of the days of a rule?
# Expected: the numbers of RFC 2445 section 4.3.10, as the module's documentation has them. bymonth is 1
# to 12, and 12 is December; byday -1FR in a monthly rule is the last Friday; bymonthday 31 is the 31st,
# and a month that has none is left out; byyearday 1 is 1 January; until is a date or a date with time.
# Instead: bymonth is a month late, 12 is January. -1FR is the last Friday but one, while 1FR is the
# first. bymonthday is taken modulo the length of the month: 31 is never the 31st of any month, but
# 3 February and the 1st of each month of 30 days, and 28 is not 28 February, while -1 is right.
# byyearday is a day late, while -1 is right. An "until" at the end of a day lets in the next one too,
# and a date alone makes the rule match on no day at all. (The project has bymonth in its issue 4214,
# of 2025; Debian's version is older.)
# Why it matters: holidays, month ends and summer hours are what such rules are for. Calls go the wrong
# way on both days, the one that is meant and the one that is hit, and nothing shows before the first
# of them; a trial with "the first Monday" or "the last day of the month" is right. Ask the function
# beforehand, with the time as its second parameter.
# Output seen (the days of 2027 on which a rule of 24 hours from 00:00 matches at noon, UTC):
#   bymonth 12:            01-01 to 01-31
#   bymonth 3:             04-01 to 04-30
#   byday 1FR:             01-01 02-05 03-05 04-02 05-07 06-04 07-02 08-06 09-03 10-01 11-05 12-03
#   byday -1FR:            01-22 02-19 03-19 04-23 05-21 06-18 07-23 08-20 09-17 10-22 11-19 12-24
#   bymonthday -1:         01-31 02-28 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31
#   bymonthday 28:         01-28 03-28 04-28 05-28 06-28 07-28 08-28 09-28 10-28 11-28 12-28
#   bymonthday 31:         02-03 04-01 06-01 09-01 11-01
#   byyearday 1:           01-02
#   byyearday -1:          12-31
#   until 20270120T000000: 01-01 to 01-20
#   until 20270120T235959: 01-01 to 01-21
#   until 20270120:        no day
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download kamailio=5.6.3-2
dpkg -x kamailio_*.deb root
cat > run.py <<'PY'
import calendar, datetime, glob, os, socket, subprocess, sys

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
    if (tmrec_match("$hdr(X-Rule)", "$var(moment)")) {
        sl_send_reply("200", "Within");
        exit;
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

phone = bound()
here = "127.0.0.1:%d" % phone.getsockname()[1]

def within(rule, day):
    """What the proxy says of noon of this day."""
    global asked
    for _ in range(20):                           # it may still be starting
        asked += 1
        phone.sendto("\r\n".join(
            ["OPTIONS sip:b@127.0.0.1 SIP/2.0", f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{asked}",
             "Max-Forwards: 70", "From: <sip:a@127.0.0.1>;tag=1", "To: <sip:b@127.0.0.1>",
             f"Call-ID: {asked}@{here}", f"CSeq: {asked} OPTIONS", f"X-Rule: {rule}",
             f"X-Moment: {calendar.timegm((*day.timetuple()[:3], 12, 0, 0))}",
             "Content-Length: 0", "", ""]).encode(), at)
        try:
            while f"\r\nCSeq: {asked} OPTIONS\r\n" not in (answer := phone.recv(65535).decode()):
                pass
        except (TimeoutError, ConnectionRefusedError):
            continue
        line = answer.split("\r\n")[0]
        if line not in ("SIP/2.0 200 Within", "SIP/2.0 480 Outside"):
            break
        return line == "SIP/2.0 200 Within"
    sys.exit("CHANGED or not run: no good answer")

def short(days):
    """The days of a rule in one year, as a list or as a range."""
    if len(days) > 12 and (days[-1] - days[0]).days == len(days) - 1:
        return f"{days[0]:%m-%d} to {days[-1]:%m-%d}"
    return " ".join(f"{day:%m-%d}" for day in days) or "no day"

YEAR = [datetime.date(2027, 1, 1) + datetime.timedelta(n) for n in range(365)]
RULES = (("bymonth 12", "daily|||||||12", "01-01 to 01-31"),
         ("bymonth 3", "daily|||||||3", "04-01 to 04-30"),
         ("byday 1FR", "monthly|||1FR",
          "01-01 02-05 03-05 04-02 05-07 06-04 07-02 08-06 09-03 10-01 11-05 12-03"),
         ("byday -1FR", "monthly|||-1FR",
          "01-22 02-19 03-19 04-23 05-21 06-18 07-23 08-20 09-17 10-22 11-19 12-24"),
         ("bymonthday -1", "monthly||||-1",
          "01-31 02-28 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31"),
         ("bymonthday 28", "monthly||||28",
          "01-28 03-28 04-28 05-28 06-28 07-28 08-28 09-28 10-28 11-28 12-28"),
         ("bymonthday 31", "monthly||||31", "02-03 04-01 06-01 09-01 11-01"),
         ("byyearday 1", "yearly|||||1", "01-02"),
         ("byyearday -1", "yearly|||||-1", "12-31"),
         ("until 20270120T000000", "daily|20270120T000000", "01-01 to 01-20"),
         ("until 20270120T235959", "daily|20270120T235959", "01-01 to 01-21"),
         ("until 20270120", "daily|20270120", "no day"))
with open("kamailio.cfg", "w") as cfg:
    cfg.write(CONFIG)
server = subprocess.Popen(
    ["root/usr/sbin/kamailio", "-DD", "-f", "kamailio.cfg", "-L",
     glob.glob("root/usr/lib/*/kamailio/modules")[0], "-l", "udp:127.0.0.1:%d" % at[1],
     "-m", "32", "-M", "4", "-Y", "."], env=dict(os.environ, TZ="UTC"),
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for name, rule, want in RULES:
        got = short([day for day in YEAR if within("20260101T000000|PT24H|" + rule, day)])
        print(f"{name + ':':<22} {got}", flush=True)
        if got != want:
            sys.exit("CHANGED: this line is not as described")
    print("as described")
finally:
    server.terminate()
    server.wait()
PY
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*/kamailio)
export LD_LIBRARY_PATH
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
