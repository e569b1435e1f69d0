import CSndfile

/// Sound that was read from a file, as one channel.
package struct SoundFile: Equatable, Sendable {
  /// Frames per second.
  package var rateHertz: Int
  /// Samples from -1 to 1.
  package var samples: [Float]
  /// True if the file's channels cancel each other; one was taken then.
  package var isAntiphase = false

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
    if Self.hasLowContainers(file) { Self.raise(&sound.channels) }
    rateHertz = sound.rate
    (samples, isAntiphase) = Self.mixed(sound.channels)
  }

  /// Sound at the given rate.
  package init(rateHertz: Int, samples: [Float]) {
    self.rateHertz = rateHertz
    self.samples = samples
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
          channels[channel].append(value.isFinite ? max(-1, min(1, value)) : 0)
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
        let sound = file[begin..<end]
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

  private static func bytes(_ size: Int) -> [UInt8] {
    let value = UInt32(clamping: size)
    return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  // WAVE of 24 bits in the lower three of four bytes, as arecord writes S24_LE: libsndfile 1.2.0
  // takes them for 32 bits, 48 dB too quiet.
  private static func hasLowContainers(_ file: [UInt8]) -> Bool {
    func number(_ place: Int) -> Int { Int(file[place]) | Int(file[place + 1]) << 8 }
    guard file.count > 44, file[0..<4].elementsEqual("RIFF".utf8),
      file[12..<16].elementsEqual("fmt ".utf8)
    else { return false }
    return number(20) == 1 && number(34) == 24 && number(32) == 4 * number(22)
  }

  private static func raise(_ channels: inout [[Float]]) {
    // Samples in the upper three bytes, as other programs have them, are larger.
    let largest = Float(1) / 256
    guard channels.allSatisfy({ $0.allSatisfy { abs($0) <= largest } }) else { return }
    for channel in channels.indices { channels[channel] = channels[channel].map { $0 * 256 } }
  }

  private static func mixed(_ channels: [[Float]]) -> (samples: [Float], isAntiphase: Bool) {
    guard channels.count > 1 else { return (channels.first ?? [], false) }
    let share = 1 / Float(channels.count)
    let mean = channels[0].indices.map { frame in
      channels.reduce(Float(0)) { $0 + $1[frame] } * share
    }
    // Without a constant offset, which says nothing.
    func energy(_ samples: [Float]) -> Double {
      let offset = samples.reduce(0) { $0 + Double($1) } / Double(max(1, samples.count))
      return samples.reduce(0) { $0 + (Double($1) - offset) * (Double($1) - offset) }
    }
    let energies = channels.map(energy)
    let most = energies.max() ?? 0
    let left = energy(mean) * Double(channels.count * channels.count)
    // The first of those that are about as loud.
    guard left < most / 25, let first = energies.firstIndex(where: { $0 > most / 2 }) else {
      return (mean, false)
    }
    return (channels[first], true)
  }
}
