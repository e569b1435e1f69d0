import CPcap

/// Reader of capture files: those of tcpdump, Wireshark and rtpdump.
package enum CaptureFile {
  /// A reason why a file cannot be read.
  package enum ReadError: Error, Equatable, Sendable {
    /// The file is a capture that libpcap does not read, with the library's message.
    case unreadable(String)
  }

  /// First bytes of captures: pcap in three variants and two byte orders, pcapng and rtpdump; also
  /// snoop, Network Monitor and files compressed by gzip, zstd or lz4, which libpcap does not read.
  private static let marks: [[UInt8]] = [
    [0xA1, 0xB2, 0xC3, 0xD4], [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
    [0x4D, 0x3C, 0xB2, 0xA1], [0x0A, 0x0D, 0x0D, 0x0A], Array("#!rtpplay".utf8),
    [0xA1, 0xB2, 0xCD, 0x34], [0x34, 0xCD, 0xB2, 0xA1], Array("snoop\0".utf8),
    Array("RTSS".utf8), Array("GMBU".utf8), [0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD],
    [0x04, 0x22, 0x4D, 0x18],
  ]

  /// True if a file that begins with `bytes` is a capture, whether or not libpcap reads it.
  package static func isCapture(beginning bytes: [UInt8]) -> Bool {
    marks.contains { bytes.starts(with: $0) }
  }

  /// Parses an rtpdump file; nil if `bytes` are not one.
  package static func dump(_ bytes: [UInt8]) -> PacketCapture? {
    guard let file = RTPDumpFile(bytes) else { return nil }
    var capture = PacketCapture()
    file.add(to: &capture)
    return capture
  }

  /// Reads the RTP in the file at `path`.
  ///
  /// With `readsDamaged` a damaged file is read up to the damage; without, it throws `unreadable`.
  /// A file that ends within a packet is read in either case.
  package static func read(
    _ path: String,
    readsDamaged: Bool = false
  ) throws(ReadError) -> PacketCapture {
    var error = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
    let precision = UInt32(PCAP_TSTAMP_PRECISION_NANO)
    guard let file = unsafe pcap_open_offline_with_tstamp_precision(path, precision, &error) else {
      throw .unreadable(text(of: error))
    }
    defer { unsafe pcap_close(file) }
    let linkType = unsafe Int(pcap_datalink(file))
    var capture = PacketCapture()
    let directions = PacketDirections(ofFileAt: path).areOutgoing
    var place = -1
    var header: UnsafeMutablePointer<pcap_pkthdr>?
    var data: UnsafePointer<UInt8>?
    while true {
      let outcome = unsafe pcap_next_ex(file, &header, &data)
      guard outcome == 1 else {
        // A capture may be cut off; what is there is read. An interface of another kind is not.
        let reason = unsafe pcap_geterr(file).map { unsafe String(cString: $0) } ?? ""
        capture.isCutOff = outcome == -1 && reason.contains("truncated")
        capture.isDamaged = outcome == -1 && !capture.isCutOff
        if capture.isDamaged, !readsDamaged { throw .unreadable(reason) }
        return capture
      }
      place += 1
      guard let header = unsafe header?.pointee, let data = unsafe data else { continue }
      let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: Int(header.caplen)))
      // Files of pcap count seconds in 32 bits without a sign, until 2106.
      let seconds = Int64(header.ts.tv_sec)
      let isSigned = seconds < 0 && seconds >= Int64(Int32.min)
      let (time, overflow) = (isSigned ? seconds + 1 << 32 : seconds).multipliedReportingOverflow(
        by: 1_000_000_000
      )
      guard !overflow else { continue }
      capture.add(
        frame: bytes,
        linkType: linkType,
        at: time &+ Int64(header.ts.tv_usec),
        isOutgoing: place < directions.count ? directions[place] : nil
      )
    }
  }

  private static func text(of error: [CChar]) -> String {
    String(decoding: error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
