import CSndfile

/// Sound that was read from a file, as one channel.
package struct SoundFile: Equatable, Sendable {
  /// Frames per second.
  package var rateHertz: Int
  /// Samples from -1 to 1.
  package var samples: [Float]
  /// True if the file's channels cancel each other, so that `samples` is one of them and not their
  /// mean.
  package var isAntiphase = false
  /// Peak that all samples were divided by, if it is over 2 and more than 1 % of them went beyond
  /// 1; nil otherwise, when samples beyond 1 are clipped.
  package var excess: Float?

  /// The error for bytes that cannot be read as sound.
  package struct ReadError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason, in the library's words for the most part.
    package let description: String
  }

  private static let blockFrames = 8_192
  /// Most samples of a file in all its channels: an hour and a half of one channel at 192 kHz.
  package static let mostSamples = 1 << 30

  /// Reads every format of libsndfile's: WAVE in all forms, RF64, W64, CAF, AIFF, FLAC, Ogg and
  /// others, of 1 to 384 kHz; several channels are averaged.
  ///
  /// A recording that was cut off ends with the file.
  package init(
    parsing file: [UInt8],
    mostSamples: Int = mostSamples
  ) throws(ReadError) {
    let links = Self.links(of: file)
    if links.count > 1 {
      self = try Self.joined(links, mostSamples)
      return
    }
    let file = try Self.reduced(file)
    var sound: (channels: [[Float]], rate: Int) = ([], 0)
    var failure: ReadError?
    // SAFETY: the library reads the bytes only while the file is open, which is within the closure.
    unsafe file.withUnsafeBufferPointer { bytes in
      var memory = unsafe sound_memory(
        bytes: bytes.baseAddress,
        length: sf_count_t(bytes.count),
        place: 0
      )
      var info = SF_INFO()
      guard let opened = unsafe sound_open(&memory, &info) else {
        failure = ReadError(description: unsafe String(cString: sf_strerror(nil)))
        return
      }
      defer { unsafe sf_close(opened) }
      do throws(ReadError) {
        sound = try unsafe Self.read(opened, info, mostSamples)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    excess = Self.limit(&sound.channels)
    rateHertz = sound.rate
    (samples, isAntiphase) = Self.mixed(sound.channels)
  }

  /// Sound at the given rate.
  package init(rateHertz: Int, samples: [Float]) {
    self.rateHertz = rateHertz
    self.samples = samples
  }

  // The links of chained Ogg, as joined recordings are (RFC 3533 section 4): libsndfile reads the
  // first alone. Other files are one link.
  private static func links(of file: [UInt8]) -> [ArraySlice<UInt8>] {
    guard file.starts(with: "OggS".utf8) else { return [file[...]] }
    var starts = [0]
    var hasSound = false
    var place = 0
    while place + 27 <= file.count, file[place..<place + 4].elementsEqual("OggS".utf8) {
      let segments = Int(file[place + 26])
      guard place + 27 + segments <= file.count else { break }
      let isFirst = file[place + 5] & 2 != 0
      // Several streams may begin together; a link begins after the sound of another.
      if isFirst, hasSound {
        starts.append(place)
        hasSound = false
      }
      if !isFirst { hasSound = true }
      place += 27 + segments
      place += file[(place - segments)..<place].reduce(0) { $0 + Int($1) }
    }
    return zip(starts, starts.dropFirst() + [file.count]).map { file[$0..<$1] }
  }

  private static func joined(
    _ links: [ArraySlice<UInt8>],
    _ mostSamples: Int
  ) throws(ReadError) -> SoundFile {
    var whole: SoundFile?
    for link in links {
      let part = try SoundFile(parsing: Array(link), mostSamples: mostSamples)
      guard var before = whole else {
        whole = part
        continue
      }
      guard part.rateHertz == before.rateHertz else {
        throw ReadError(description: "its parts have different sample rates")
      }
      guard before.samples.count + part.samples.count <= mostSamples else {
        throw ReadError(description: "the sound is too long")
      }
      before.samples += part.samples
      whole = before
    }
    return whole ?? SoundFile(rateHertz: 48_000, samples: [])
  }

  @unsafe
  private static func read(
    _ file: OpaquePointer,
    _ info: SF_INFO,
    _ mostSamples: Int
  ) throws(ReadError) -> (channels: [[Float]], rate: Int) {
    let (rate, count) = (Int(info.samplerate), Int(info.channels))
    guard (1_000...384_000).contains(rate), (1...64).contains(count) else {
      throw ReadError(description: "\(rate) Hz, \(count) channels")
    }
    var channels = [[Float]](repeating: [], count: count)
    var block = [Float](repeating: 0, count: blockFrames * count)
    while true {
      let frames = unsafe Int(sf_readf_float(file, &block, sf_count_t(blockFrames)))
      guard frames > 0 else { return (channels, rate) }
      for channel in 0..<count {
        for frame in 0..<frames {
          let value = block[frame * count + channel]
          channels[channel].append(value.isFinite ? value : 0)
        }
      }
      guard channels[0].count * count <= mostSamples else {
        throw ReadError(description: "the sound is too long")
      }
    }
  }

  /// Beginnings of WAVE files; the last two have lengths of 64 bits (EBU Tech 3306, ITU-R BS.2088).
  private static let beginnings = ["RIFF", "RF64", "BW64"].map { Array($0.utf8) }

  // A WAVE file with what its sound needs, and nothing else: libsndfile 1.2.0 does not come to an
  // end with some damaged lists of titles. A length that was not filled in, or that is more than
  // there is, ends with the file: the program that wrote it was killed.
  private static func reduced(_ file: [UInt8]) throws(ReadError) -> [UInt8] {
    if file.starts(with: "caff".utf8) { return ended(file) }
    guard file.count >= 12, beginnings.contains(Array(file[0..<4])),
      file[8..<12].elementsEqual("WAVE".utf8)
    else { return file }
    func size(_ place: Int, bytes: Int = 4) -> Int {
      (0..<bytes).reduce(0) { $0 | Int(file[place + $1]) << (8 * $1) }
    }
    /// Length of the sound where four bytes do not hold it; 0 if it was not filled in.
    var longLength = 0
    var kept: [UInt8] = []
    var place = 12
    while place + 8 <= file.count {
      let name = file[place..<place + 4]
      let (begin, length) = (place + 8, size(place + 4))
      if name.elementsEqual("data".utf8) {
        guard !kept.isEmpty else { break }
        let stated = length == UInt32.max && longLength > 0 ? longLength : length
        let end = stated == 0 ? file.count : min(file.count, begin + stated)
        var sound = file[begin..<end]
        packContainers(in: &sound, describedBy: &kept)
        return Array("RIFF".utf8) + bytes(4 + kept.count + 8 + sound.count) + Array("WAVE".utf8)
          + kept + Array("data".utf8) + bytes(sound.count) + sound
          + (sound.count % 2 == 1 ? [0] : [])
      }
      if name.elementsEqual("ds64".utf8), length >= 16, begin + 16 <= file.count {
        // No file is longer.
        longLength = size(begin + 8, bytes: 6)
      }
      let end = begin + length + length % 2
      if name.elementsEqual("fmt ".utf8) || name.elementsEqual("fact".utf8) {
        guard end <= file.count, length < 1_000 else { break }
        kept += file[place..<end]
      }
      place = end
    }
    throw ReadError(description: "its header is damaged")
  }

  // A CAF file whose sound ends with it, where its length was not filled in or is more than there
  // is (Apple, Core Audio Format Specification, "Audio Data Chunk").
  private static func ended(_ file: [UInt8]) -> [UInt8] {
    var place = 8
    while place + 12 <= file.count {
      let size = file[place + 4..<place + 12].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let rest = UInt64(file.count - place - 12)
      if file[place..<place + 4].elementsEqual("data".utf8) {
        guard size > rest else { return file }
        var whole = file
        for byte in 0..<8 {
          whole[place + 4 + byte] = UInt8(truncatingIfNeeded: rest >> (56 - 8 * UInt64(byte)))
        }
        return whole
      }
      guard size <= rest else { return file }
      place += 12 + Int(size)
    }
    return file
  }

  private static func bytes(_ size: Int) -> [UInt8] {
    let value = UInt32(clamping: size)
    return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  // WAVE of 24 bits in the lower three of four bytes, as arecord writes S24_LE, becomes one of
  // three bytes: libsndfile 1.2.0 takes it for 32 bits, or for noise. Where the lowest byte is
  // empty, the upper three have the sample.
  private static func packContainers(
    in sound: inout ArraySlice<UInt8>,
    describedBy chunks: inout [UInt8]
  ) {
    var place = 0
    while place + 8 <= chunks.count, !chunks[place..<place + 4].elementsEqual("fmt ".utf8) {
      let length = number(chunks, place + 4, bytes: 4)
      place += 8 + length + length % 2
    }
    let begin = place + 8
    guard begin + 16 <= chunks.count, number(chunks, begin) == 1, number(chunks, begin + 14) == 24
    else { return }
    let channels = number(chunks, begin + 2)
    guard number(chunks, begin + 12) == 4 * channels else { return }
    let frames = sound.count / 4
    let isLow = (0..<frames).contains { sound[sound.startIndex + 4 * $0] != 0 }
    var packed: [UInt8] = []
    packed.reserveCapacity(3 * frames)
    for sample in 0..<frames {
      let first = sound.startIndex + 4 * sample + (isLow ? 0 : 1)
      packed += sound[first..<first + 3]
    }
    sound = packed[...]
    let rate = number(chunks, begin + 4, bytes: 4)
    chunks.replaceSubrange(begin + 8..<begin + 12, with: bytes(rate * 3 * channels))
    chunks.replaceSubrange(begin + 12..<begin + 14, with: bytes(3 * channels)[..<2])
  }

  private static func number(_ bytes: [UInt8], _ place: Int, bytes count: Int = 2) -> Int {
    (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
  }

  /// Highest sample of a file whose samples are whole numbers of 32 bits.
  private static let mostExcess: Float = 2_147_483_648

  // Floating-point files may have been written without regard to 1. A little more is clipping, and
  // a few samples that are far beyond are damage.
  private static func limit(_ channels: inout [[Float]]) -> Float? {
    let highest = channels.reduce(Float(0)) { most, channel in
      channel.reduce(most) { max($0, abs($1)) }
    }
    guard highest > 1 else { return nil }
    var (beyond, sounding) = (0, 0)
    for channel in channels {
      beyond += channel.count { abs($0) > 1 }
      sounding += channel.count { $0 != 0 }
    }
    let isScaled = highest > 2 && highest <= mostExcess && 100 * beyond > sounding
    for channel in channels.indices {
      channels[channel] = channels[channel].map {
        isScaled ? $0 / highest : max(-1, min(1, $0))
      }
    }
    return isScaled ? highest : nil
  }

  private static func mixed(_ channels: [[Float]]) -> (samples: [Float], isAntiphase: Bool) {
    guard channels.count > 1 else { return (channels.first ?? [], false) }
    // Without a constant offset, which says nothing.
    func energy(_ samples: [Float]) -> Double {
      let offset = samples.reduce(0) { $0 + Double($1) } / Double(max(1, samples.count))
      return samples.reduce(0) { $0 + (Double($1) - offset) * (Double($1) - offset) }
    }
    let energies = channels.map(energy)
    let most = energies.max() ?? 0
    // Channels in which there is nothing would only make the others quieter.
    let heard = zip(channels, energies).filter { $1 >= most / 10_000 }.map(\.0)
    let share = 1 / Float(heard.count)
    let mean = channels[0].indices.map { frame in
      heard.reduce(Float(0)) { $0 + $1[frame] } * share
    }
    let left = energy(mean) * Double(heard.count * heard.count)
    // The first of those that are about as loud.
    guard left < most / 25, let first = energies.firstIndex(where: { $0 > most / 2 }) else {
      return (mean, false)
    }
    return (channels[first], true)
  }
}
