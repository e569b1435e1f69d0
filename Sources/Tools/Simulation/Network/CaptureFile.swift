import CPcap

/// A file that tcpdump or Wireshark wrote.
package enum CaptureFile {
  /// The RTP in the file at `path`; nil if it is no capture.
  package static func read(_ path: String) -> PacketCapture? {
    var error = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
    let precision = UInt32(PCAP_TSTAMP_PRECISION_NANO)
    guard let file = unsafe pcap_open_offline_with_tstamp_precision(path, precision, &error) else {
      return nil
    }
    defer { unsafe pcap_close(file) }
    let linkType = unsafe Int(pcap_datalink(file))
    var capture = PacketCapture()
    var header: UnsafeMutablePointer<pcap_pkthdr>?
    var data: UnsafePointer<UInt8>?
    // Damage in the middle ends the file.
    while unsafe pcap_next_ex(file, &header, &data) == 1 {
      guard let header = unsafe header?.pointee, let data = unsafe data else { continue }
      let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: Int(header.caplen)))
      let (seconds, overflow) = Int64(header.ts.tv_sec).multipliedReportingOverflow(
        by: 1_000_000_000
      )
      guard !overflow else { continue }
      capture.add(frame: bytes, linkType: linkType, at: seconds &+ Int64(header.ts.tv_usec))
    }
    return capture
  }
}
