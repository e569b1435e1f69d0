import MediaCore

/// The bytes of a text in hexadecimal.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] << 4 | digits[$0 + 1])
  }
}

/// The first bytes of a buffer.
func contents(of buffer: borrowing ByteBuffer, _ length: Int) -> [UInt8] {
  var found: [UInt8] = []
  for index in 0..<length { found.append(buffer[index]) }
  return found
}

/// Overwrites the first bytes of a buffer.
func fill(_ buffer: inout ByteBuffer, with bytes: [UInt8]) {
  for (index, byte) in bytes.enumerated() { buffer[index] = byte }
}

/// A packet of RTP.
func rtp(_ sequenceNumber: UInt16, ssrc: UInt32 = 7, _ payload: [UInt8]) -> [UInt8] {
  [0x80, 96] + bigEndian(UInt32(sequenceNumber)).suffix(2)
    + bigEndian(UInt32(sequenceNumber) &* 480) + bigEndian(ssrc) + payload
}

/// A number in network byte order.
func bigEndian(_ number: UInt32) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
}
