import MediaCore

/// An event in a simulated world.
enum Happening {
  /// A user's action or a fault: the step of that number.
  case step(Int)
  case message(SIPMessage)
  case voice(VoiceDatagram)
  /// An event in one process, dropped if that has been killed meanwhile.
  case inProcess(machine: Int, process: Int, ProcessEvent)
  /// A machine's program is started.
  case start(machine: Int)
}

/// An event in one process.
enum ProcessEvent {
  /// The phone takes the next input from its inbox.
  case inbox
  /// The devices requested under that number are open, or could not be opened.
  case devicesOpened(Int)
  /// The devices have been closed, or kept for as long as another call may want them.
  case devicesReleased(Int)
  /// A deadline of the call system has come.
  case deadline
  /// The phone's check of its calls, once a second.
  case watch
  /// The sound card of that engine has captured a period.
  case period(engine: Int)
  /// A timer of the signalling has fired.
  case signalling(SignallingTimer)
  /// The far side's host has refused an INVITE.
  case unreachable(call: Int)
}

/// Queue of future events, in order of time; events at one time are in order of entry.
struct Agenda {
  private struct Entry {
    let time: Int64
    let number: Int
    let happening: Happening

    func precedes(_ other: Entry) -> Bool {
      time != other.time ? time < other.time : number < other.number
    }
  }

  // A binary heap.
  private var entries: [Entry] = []
  private var nextNumber = 0

  mutating func add(_ happening: Happening, at time: Int64) {
    entries.append(Entry(time: time, number: nextNumber, happening: happening))
    nextNumber += 1
    var child = entries.count - 1
    while child > 0, entries[child].precedes(entries[(child - 1) / 2]) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func next() -> (time: Int64, happening: Happening)? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink()
    }
    return (first.time, first.happening)
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && entries[child].precedes(entries[least]) {
        least = child
      }
      guard least != parent else { return }
      entries.swapAt(parent, least)
      parent = least
    }
  }
}
