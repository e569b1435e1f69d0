package import MediaCore

/// Payload of one telephone-event packet: a DTMF digit and its duration so far (RFC 4733 section
/// 2.3).
package struct TelephoneEvent: Equatable, Sendable, BitwiseCopyable {
  /// Bytes of a payload.
  package static var length: Int { @_noAllocation @_noLocks get { 4 } }

  /// The code: 0 to 9 for the digits, 10 for `*`, 11 for `#`, 12 to 15 for A to D (RFC 4733 section
  /// 3.2).
  package var code: UInt8
  /// True in the packets that mark the end.
  package var isEnd: Bool
  /// Power level of the tone in dBm0 without its minus sign, 0 to 63 (RFC 4733 section 2.3.4).
  package var volume: UInt8
  /// Duration so far, in ticks of the event's clock: the RTP clock, or one of 8 kHz.
  package var duration: UInt16

  /// An event with the given fields.
  @_noAllocation @_noLocks
  package init(code: UInt8, isEnd: Bool, volume: UInt8 = 10, duration: UInt16) {
    self.code = code
    self.isEnd = isEnd
    self.volume = volume
    self.duration = duration
  }

  /// Reads a payload; nil if it is too short.
  @_noAllocation @_noLocks
  package init?(parsing datagram: borrowing ByteBuffer, at offset: Int, length: Int) {
    guard length >= Self.length, offset >= 0, offset + Self.length <= datagram.count else {
      return nil
    }
    code = datagram[offset]
    isEnd = datagram[offset + 1] & 0x80 != 0
    volume = datagram[offset + 1] & 0x3F
    duration = BigEndian.readUInt16(datagram, at: offset + 2)
  }

  /// Writes the payload, of `length` bytes.
  @_noAllocation @_noLocks
  package func write(to datagram: inout ByteBuffer, at offset: Int) {
    datagram[offset] = code
    datagram[offset + 1] = (isEnd ? 0x80 : 0) | (volume & 0x3F)
    BigEndian.write(duration, to: &datagram, at: offset + 2)
  }

  private static let keys: [Character] = Array("0123456789*#ABCD")

  /// The code of a DTMF digit; nil if it is none of 0 to 9, `*`, `#`, A to D.
  package static func code(of key: Character) -> UInt8? {
    keys.firstIndex { String($0) == key.uppercased() }.map { UInt8($0) }
  }

  /// The DTMF digit of a code; nil above 15.
  package static func key(of code: UInt8) -> Character? {
    code < keys.count ? keys[Int(code)] : nil
  }
}

/// Sends DTMF digits one after the other, in place of the voice: an update every 20 ms, the end
/// three times, and a pause between two digits (RFC 4733 section 2.5.1).
package struct TelephoneEventSender: BitwiseCopyable, Sendable {
  /// Duration of a digit, in frames at 48 kHz.
  package static var toneFrames: FrameCount { @_noAllocation @_noLocks get { 4_800 } }
  /// Pause after a digit, in frames at 48 kHz.
  package static var pauseFrames: FrameCount { @_noAllocation @_noLocks get { 2_880 } }
  /// Time between two packets of one digit, in frames at 48 kHz.
  package static var intervalFrames: FrameCount { @_noAllocation @_noLocks get { 960 } }
  private static var capacity: Int { @_noAllocation @_noLocks get { 64 } }
  private static var endCount: Int { @_noAllocation @_noLocks get { 3 } }

  /// The packet to send in place of a packet of voice.
  package enum Slot: Equatable, Sendable, BitwiseCopyable {
    /// The voice itself.
    case voice
    /// A packet of the event that began at this timestamp; the first has the marker.
    case event(TelephoneEvent, began: RTPTimestamp, isFirst: Bool)
    /// No packet: a digit is being sent, and its next packet is not due.
    case nothing
  }

  private var keys = SIMD64<UInt8>(repeating: 0)
  private var first = 0
  private var count = 0
  private var began: RTPTimestamp?
  private var elapsed = 0
  private var sinceLast = 0
  private var ends = 0
  private var pause = 0

  /// A sender without digits.
  package init() {}

  /// True while a digit is being sent or waits.
  package var isSending: Bool { @_noAllocation @_noLocks get { count > 0 } }

  /// Appends a digit by its code; false if too many wait.
  @_noAllocation @_noLocks
  package mutating func press(_ code: UInt8) -> Bool {
    guard count < Self.capacity else { return false }
    keys[(first + count) % Self.capacity] = code
    count += 1
    return true
  }

  /// Goes on where the sender of another stream has stopped, which may be in the middle of a digit;
  /// digits of this one come after its own.
  @_noAllocation @_noLocks
  package mutating func follow(_ former: TelephoneEventSender) {
    let own = self
    self = former
    for place in 0..<own.count { _ = press(own.keys[(own.first + place) % Self.capacity]) }
  }

  /// Returns the packet to send for the next `frames` at 48 kHz, which begin at `timestamp`.
  ///
  /// Durations count a tick for every `framesPerTick`.
  @_noAllocation @_noLocks
  package mutating func next(
    frames: FrameCount,
    at timestamp: RTPTimestamp,
    framesPerTick: Int
  ) -> Slot {
    guard let began else {
      pause = max(0, pause - frames)
      guard count > 0, pause == 0 else { return .voice }
      self.began = timestamp
      elapsed = frames
      sinceLast = 0
      ends = 0
      return .event(event(framesPerTick: framesPerTick), began: timestamp, isFirst: true)
    }
    elapsed += frames
    sinceLast += frames
    guard sinceLast >= Self.intervalFrames else { return .nothing }
    sinceLast = 0
    let event = event(framesPerTick: framesPerTick)
    if event.isEnd {
      ends += 1
      if ends == Self.endCount { finish() }
    }
    return .event(event, began: began, isFirst: false)
  }

  @_noAllocation @_noLocks
  private func event(framesPerTick: Int) -> TelephoneEvent {
    let frames = elapsed < Self.toneFrames ? elapsed : Self.toneFrames
    return TelephoneEvent(
      code: keys[first],
      isEnd: elapsed >= Self.toneFrames,
      duration: UInt16(truncatingIfNeeded: frames / framesPerTick)
    )
  }

  @_noAllocation @_noLocks
  private mutating func finish() {
    first = (first + 1) % Self.capacity
    count -= 1
    began = nil
    pause = Self.pauseFrames
  }
}

/// Receives each DTMF digit once, however many of its packets arrive or are lost.
package struct TelephoneEventReceiver: BitwiseCopyable, Sendable {
  /// Largest distance of a late packet's event before the latest event, in event ticks: 5 s at
  /// 8 kHz.
  private static var latestTicks: Int { @_noAllocation @_noLocks get { 40_000 } }
  /// The longest event that one timestamp can describe (RFC 4733 section 2.5.1.3).
  private static var longestSegment: Int { @_noAllocation @_noLocks get { 65_535 } }

  private let ticksPerEventTick: Int
  private var latest: (event: TelephoneEvent, began: RTPTimestamp)?
  /// Timestamps of the three events before the latest one, whose packets may still arrive.
  private var earlier: (RTPTimestamp?, RTPTimestamp?, RTPTimestamp?) = (nil, nil, nil)

  /// A receiver without events; a tick of their durations is `ticksPerEventTick` ticks of the RTP
  /// clock.
  @_noAllocation @_noLocks
  package init(ticksPerEventTick: Int = 1) {
    self.ticksPerEventTick = ticksPerEventTick
  }

  /// Forgets past events, as when the sender's timestamps restart.
  @_noAllocation @_noLocks
  package mutating func restart() {
    latest = nil
    earlier = (nil, nil, nil)
  }

  /// True if one of the last four events began at `timestamp`.
  @_noAllocation @_noLocks
  package func knows(_ timestamp: RTPTimestamp) -> Bool {
    if let latest, latest.began.rawValue == timestamp.rawValue { return true }
    if let one = earlier.0, one.rawValue == timestamp.rawValue { return true }
    if let one = earlier.1, one.rawValue == timestamp.rawValue { return true }
    if let one = earlier.2, one.rawValue == timestamp.rawValue { return true }
    return false
  }

  /// Takes over the events of another receiver, whose timestamps go on.
  package mutating func follow(_ former: TelephoneEventReceiver) {
    (latest, earlier) = (former.latest, former.earlier)
  }

  /// Handles a packet of the event that began at `timestamp`; returns the code of a new event, else
  /// nil.
  @_noAllocation @_noLocks
  package mutating func receive(_ event: TelephoneEvent, began timestamp: RTPTimestamp) -> UInt8? {
    guard let (former, began) = latest else {
      latest = (event, timestamp)
      return event.code
    }
    let distance = Int(timestamp.ticks(since: began))
    if distance == 0 {
      let duration = max(event.duration, former.duration)
      latest = (
        TelephoneEvent(
          code: former.code,
          isEnd: former.isEnd || event.isEnd,
          duration: duration
        ), began
      )
      return nil
    }
    // A late packet of an earlier key is not that key again, and one whose other packets were lost
    // comes too late. If it began long before, the timestamps have gone back, as they may.
    if knows(timestamp) { return nil }
    if distance < 0, distance >= -Self.latestTicks * ticksPerEventTick { return nil }
    earlier = (began, earlier.0, earlier.1)
    latest = (event, timestamp)
    // A key that is held for long goes on in another segment, which begins where the last one
    // ended.
    let isSegment =
      distance == Int(former.duration) * ticksPerEventTick
      || distance == Self.longestSegment * ticksPerEventTick || distance == Self.longestSegment
    return isSegment && event.code == former.code && !former.isEnd ? nil : event.code
  }
}
