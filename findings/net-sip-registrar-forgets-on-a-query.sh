#!/usr/bin/env bash
# Net::SIP 0.835 (Debian 12 package libnet-sip-perl 0.835-1), its Net::SIP::Registrar behind a real
# UDP socket.
# Expected: a REGISTER adds or refreshes the contacts that it names and leaves the others alone; one
# without Contact only asks, and the 200 lists every binding there is (RFC 3261 section 10.3, steps
# 6 to 8, and 10.2.3). So two phones share one number, and each may ask what is registered.
# Seen: every REGISTER replaces the whole list by the contacts that are in it. A second phone throws
# the first one out; a phone that takes its own contact back (expires=0) takes back the others too;
# and the question without Contact deletes everything. All get 200 OK.
# It matters to a phone that is tested against this registrar: two devices with one number cannot be
# tried with it. Worse, a phone that asks whether it is still registered unregisters itself by
# asking, gets a 200 for it, and is not called any more until it refreshes. Its Contact is missing
# from the 200, and that is the only sign: look for it there, and register again if it is gone.
# Output:
#   phone 1 registers: 200, bound: 24061
#   phone 2 registers: 200, bound: 24062
#   a query, no Contact: 200, bound: nothing
#   both in one REGISTER: 200, bound: 24061 24062
#   phone 1 leaves, expires=0: 200, bound: nothing
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
my $ua = Net::SIP::Simple->new(
    leg => Net::SIP::Leg->new(proto => 'udp', addr => '127.0.0.1', port => $port));
my $registrar = $ua->create_registrar(min_expires => 1, max_expires => 3600);
my $number = 0;

sub register {
    my ($title, $want, @contacts) = @_;
    $number++;
    my $text = join("\r\n", 'REGISTER sip:example.org SIP/2.0',
        'Via: SIP/2.0/UDP 127.0.0.1:' . $client->sockport . ";branch=z9hG4bK$number",
        'Max-Forwards: 70', "From: <sip:bob\@example.org>;tag=$number",
        'To: <sip:bob@example.org>', "Call-ID: call$number", 'CSeq: 1 REGISTER',
        (map { "Contact: <sip:bob\@127.0.0.1:$_" } @contacts), 'Content-Length: 0', '', '');
    my $answer = '';
    send($client, $text, 0, pack_sockaddr_in($port, inet_aton('127.0.0.1'))) or die $!;
    for (1 .. 100) {
        $ua->loop(0.1);
        last if recv($client, $answer, 4000, 0) && $answer =~ m{^SIP/2.0 [2-6]};
    }
    my ($code) = $answer =~ m{^SIP/2.0 (\d+)} or die "not run: no answer\n";
    my @listed = sort $answer =~ m{^Contact: .*?:(2406\d)>}mgi;
    my @bound = sort map { m{:(2406\d)} } $registrar->query('sip:bob@example.org');
    my $seen = "$code, bound: " . (join(' ', @bound) || 'nothing');
    print "$title: $seen\n";
    die "CHANGED: this is not as described\n" if $seen ne $want || "@listed" ne "@bound";
}

register('phone 1 registers', '200, bound: 24061', '24061>;expires=600');
register('phone 2 registers', '200, bound: 24062', '24062>;expires=600');
register('a query, no Contact', '200, bound: nothing');
register('both in one REGISTER', '200, bound: 24061 24062',
    '24061>;expires=600', '24062>;expires=600');
register('phone 1 leaves, expires=0', '200, bound: nothing', '24061>;expires=0');
PL
PERL5LIB="$dir/root/usr/share/perl5" timeout 60 perl run.pl
