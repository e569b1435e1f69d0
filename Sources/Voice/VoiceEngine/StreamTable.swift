package import MediaCore
package import RealTime

/// Streams of a voice thread, as that thread holds them; `VoiceStreams` is the other half.
///
/// **Thread safety:** the voice thread only. Nothing here allocates after the initialiser.
package struct StreamTable<Transport: PacketTransport & ~Copyable>: ~Copyable {
  static var capacity: Int { 256 }

  private var commands: RingConsumer<StreamCommand<Transport>>
  private var released: RingProducer<Int>
  private var ids = FixedArray<Int>(repeating: 0, count: 256)
  /// Number of slots up to the last one in use; those after it are free.
  private var slotCount = 0
  private var boxes = FixedArray<LentObject<StreamBox<Transport>>>(repeating: .none, count: 256)

  init(
    commands: consuming RingConsumer<StreamCommand<Transport>>,
    released: consuming RingProducer<Int>
  ) {
    self.commands = commands
    self.released = released
  }

  /// Calls `body` with each stream, which `VoiceStreams` keeps until it reads that it was released.
  package func forEach(_ body: (StreamBox<Transport>) -> Void) {
    for slot in 0..<slotCount { boxes[slot].use(body) }
  }

  /// Executes the pending commands; RTCP BYE packets are written to `datagram`.
  ///
  /// A stream that begins while the loudspeaker is gone (`isInterrupted`) drops packets that it
  /// cannot play.
  package mutating func obey(
    isInterrupted: Bool,
    sendingFrom datagram: inout ByteBuffer,
    by time: some TimeSource
  ) {
    while let command = commands.read() {
      switch command {
      case .attach(let id, let box):
        attach(box, id: id)
        let now = time.now
        box.use { $0.takeSource(at: now) }
        if isInterrupted { box.use { $0.stream.noteInterruption() } }
      case .detach(let id, let isLast):
        for slot in 0..<slotCount where ids[slot] == id {
          release(slot, isLast: isLast, sendingFrom: &datagram, by: time)
        }
      case .mute(let id, let isMuted):
        use(id) { $0.isMuted = isMuted }
      case .press(let id, let code):
        use(id) { _ = $0.stream.press(code) }
      case .record(let id, let tap):
        // A stream that was released took its tap with it.
        use(id) { box in
          tap.use { $0.begin() }
          box.tap = tap
        }
      case .setConference(let id, let conference):
        use(id) { $0.conference = conference }
      }
    }
  }

  /// Sends an RTCP BYE on every stream and releases it.
  package mutating func releaseAll(
    sendingFrom datagram: inout ByteBuffer,
    by time: some TimeSource
  ) {
    for slot in 0..<slotCount {
      release(slot, isLast: true, sendingFrom: &datagram, by: time)
    }
  }

  /// Sends the reports that are due, and publishes the statistics of each stream to `VoiceStreams`.
  package func report(
    at now: MonotonicInstant,
    sendingFrom datagram: inout ByteBuffer,
    by time: some TimeSource
  ) {
    let wall = time.wallNanoseconds
    forEach { box in
      box.takeSource(at: now)
      box.report(&datagram, at: now, wall: wall, isLast: false)
      box.publish(at: now)
    }
  }

  private func use(_ id: Int, _ body: (StreamBox<Transport>) -> Void) {
    for slot in 0..<slotCount where ids[slot] == id { boxes[slot].use(body) }
  }

  // There is room: `VoiceStreams` refuses what is beyond `capacity`.
  private mutating func attach(_ box: LentObject<StreamBox<Transport>>, id: Int) {
    for slot in 0..<Self.capacity where boxes[slot].isNone {
      boxes[slot] = box
      ids[slot] = id
      slotCount = max(slotCount, slot + 1)
      return
    }
  }

  private mutating func release(
    _ slot: Int,
    isLast: Bool,
    sendingFrom datagram: inout ByteBuffer,
    by time: some TimeSource
  ) {
    guard !boxes[slot].isNone else { return }
    let now = time.now
    boxes[slot].use {
      if isLast {
        $0.report(&datagram, at: now, wall: time.wallNanoseconds, isLast: true)
      }
      $0.leaveSource(at: now, isLast: isLast)
      $0.transport.end()
    }
    boxes[slot] = .none
    while slotCount > 0, boxes[slotCount - 1].isNone { slotCount -= 1 }
    // Always taken: the ring holds twice as many as there are streams.
    _ = released.write(ids[slot])
  }
}
