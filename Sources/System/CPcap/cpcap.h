/* libpcap, for reading what tcpdump or Wireshark wrote. */
#ifndef CPCAP_H
#define CPCAP_H

#include <pcap/pcap.h>

#endif
