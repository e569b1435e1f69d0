#!/usr/bin/env bash
# Net::SIP 0.835 (Debian 12 package libnet-sip-perl 0.835-1), Net::SIP::Simple's listen() with all
# defaults, called with audio and a second stream in the offer.
# Expected: an answer has as many m= lines as the offer; a stream that is not wanted has port 0, and
# one that was offered with port 0 stays so (RFC 3264 section 6). Formats of RTP/AVP are payload
# type numbers, 0 to 127 (RFC 8866 section 5.14, RFC 3551 section 6).
# Seen: the video is accepted, on a port of its own, and its only "format" besides 101 is the text
# of a Perl reference, like ARRAY(0x5581d43263e8); so it is for a video that the offer had switched
# off with port 0. And if the second stream is T.38 ("udptl"), off as well, the call gets a 200 OK
# without any SDP.
# It matters to a phone with video, or one that keeps a rejected stream's line in its offers as it
# has to (section 8.2): a parser that wants numbers refuses the whole answer, and with it the call
# that was just picked up; another one sends video to nobody. With audio alone all is well, so the
# phone's own video seems to be at fault. Take a 2xx with an answer that cannot be parsed for a
# failed call (ACK, then BYE), and offer this peer audio alone.
# Output:
#   offer of audio: 200, m=audio PORT RTP/AVP 0 101
#   offer of audio, video: 200, m=audio PORT RTP/AVP 0 101, m=video PORT RTP/AVP ARRAY(..) 101
#   offer of audio, video off: 200, m=audio PORT RTP/AVP 0 101, m=video PORT RTP/AVP ARRAY(..) 101
#   offer of audio, T.38 off: 200, no SDP
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libnet-sip-perl=0.835-1
dpkg -x libnet-sip-perl_*.deb root
cat > run.pl <<'PL'
use strict;
use warnings;
use IO::Socket::INET;
use Net::SIP;
use Socket;

my $client = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1') or die $!;
$client->blocking(0);
my $probe = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1') or die $!;
my $port = $probe->sockport;
close $probe;
($Net::SIP::Util::RTP_MIN_PORT, $Net::SIP::Util::RTP_MAX_PORT) = (24100, 26100);
my $ua = Net::SIP::Simple->new(
    leg => Net::SIP::Leg->new(proto => 'udp', addr => '127.0.0.1', port => $port));
$ua->listen(init_media => $ua->rtp('recv_echo'));
my $number = 0;

sub call {
    my ($title, $want, @media) = @_;
    $number++;
    my $sdp = join("\r\n", 'v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0',
        'm=audio 24084 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/8000', @media, '');
    my $text = join("\r\n", "INVITE sip:bob\@127.0.0.1:$port SIP/2.0",
        'Via: SIP/2.0/UDP 127.0.0.1:' . $client->sockport . ";branch=z9hG4bK$number",
        'Max-Forwards: 70', "From: <sip:amy\@127.0.0.1>;tag=$number", 'To: <sip:bob@127.0.0.1>',
        "Call-ID: call$number", 'CSeq: 1 INVITE',
        'Contact: <sip:amy@127.0.0.1:' . $client->sockport . '>', 'Content-Type: application/sdp',
        'Content-Length: ' . length($sdp), '', $sdp);
    my ($answer, $got) = ('', '');
    send($client, $text, 0, pack_sockaddr_in($port, inet_aton('127.0.0.1'))) or die $!;
    for (1 .. 100) {
        $ua->loop(0.1);
        while (recv($client, $got, 4000, 0)) {
            $answer = $got if $got =~ m{^SIP/2.0 [2-6]} && $got =~ m{^Call-id: call$number\r}mi;
        }
        last if $answer;
    }
    my ($code) = $answer =~ m{^SIP/2.0 (\d+)} or die "not run: no answer\n";
    my @lines = $answer =~ m{^(m=.*?)\r?$}mg;
    my $open = !grep { !m{^m=\w+ 2[456]\d\d\d } } @lines;
    s{^(m=\w+) [1-9]\d*}{$1 PORT}, s{ARRAY\(0x[0-9a-f]+\)}{ARRAY(..)} for @lines;
    my $seen = "$code, " . (join(', ', @lines) || 'no SDP');
    print "$title: $seen\n";
    die "CHANGED: this is not as described\n" if $seen ne $want || !$open;
}

my $audio = '200, m=audio PORT RTP/AVP 0 101';
my $both = "$audio, m=video PORT RTP/AVP ARRAY(..) 101";
call('offer of audio', $audio);
call('offer of audio, video', $both, 'm=video 24086 RTP/AVP 97', 'a=rtpmap:97 H264/90000');
call('offer of audio, video off', $both, 'm=video 0 RTP/AVP 97');
call('offer of audio, T.38 off', '200, no SDP', 'm=image 0 udptl t38');
PL
PERL5LIB="$dir/root/usr/share/perl5" timeout 80 perl run.pl
