/// What a jitter buffer's output is doing, and so what the next packet has to do.
///
/// | Phase | Without a packet | With a packet |
/// |---|---|---|
/// | `empty` | silence | waits for the target delay; what is later loses its beginning |
/// | `playing` | concealment | follows the last one; what is missing before it is concealed |
/// | `silent` | comfort noise | waits for its time, then plays |
/// | `waiting` | concealment, or comfort noise | waits for the target delay, then plays |
///
/// | From | Event | To |
/// |---|---|---|
/// | any | a packet is played | `playing`, or `silent` if it only says so (DTX) |
/// | `playing` | concealment has faded after 500 ms; a pause; another time base | `waiting` |
/// | `silent` | comfort noise has begun; a pause; another time base | `waiting` |
/// | `waiting`, `empty` | the same | unchanged |
///
/// An interruption (`isInterrupted`) and how much has been concealed for a loss
/// (`concealedSinceExpected`) are apart: each may come in every phase.
enum PlayoutPhase: Equatable, Sendable, BitwiseCopyable {
  /// What fills the time until a packet is due.
  enum Filler: Equatable, Sendable, BitwiseCopyable {
    /// The sender was speaking.
    case concealment
    /// The sender was silent.
    case comfortNoise
  }

  /// Nothing has been played.
  case empty
  /// The sender speaks, and each packet follows the one before.
  case playing
  /// The sender has announced silence.
  case silent
  /// The next packet begins a sentence: it waits for the target delay.
  case waiting(Filler)

  /// True before the first packet is played.
  var isEmpty: Bool {
    @_noAllocation @_noLocks get { if case .empty = self { true } else { false } }
  }

  /// True while each packet follows the one before.
  var isPlaying: Bool {
    @_noAllocation @_noLocks get { if case .playing = self { true } else { false } }
  }

  /// True if the next packet waits for the target delay.
  var isWaiting: Bool {
    @_noAllocation @_noLocks get {
      switch self {
      case .empty, .waiting: true
      case .playing, .silent: false
      }
    }
  }

  /// True if the sender was silent last.
  var isSilent: Bool {
    @_noAllocation @_noLocks get {
      switch self {
      case .silent, .waiting(.comfortNoise): true
      case .empty, .playing, .waiting(.concealment): false
      }
    }
  }

  /// Lets the next packet wait for the target delay.
  @_noAllocation @_noLocks
  mutating func wait() {
    switch self {
    case .playing: self = .waiting(.concealment)
    case .silent: self = .waiting(.comfortNoise)
    case .empty, .waiting: break
    }
  }
}
