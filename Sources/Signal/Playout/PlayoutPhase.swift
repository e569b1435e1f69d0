/// Phase of a jitter buffer's output, which decides how the next packet is played.
///
/// | Phase | Without a packet | With a packet |
/// |---|---|---|
/// | `empty` | silence | waits for the target delay; if late, its beginning is dropped |
/// | `playing` | concealment | follows the last one; a gap before it is concealed |
/// | `silent` | comfort noise | waits for its time, then plays |
/// | `waiting` | concealment, or comfort noise | waits for the target delay, then plays |
///
/// | From | Event | To |
/// |---|---|---|
/// | any | a packet is played | `playing`, or `silent` if it signals silence (DTX) |
/// | `playing` | concealment has faded after 500 ms; a pause; another time base | `waiting` |
/// | `silent` | comfort noise has begun; a pause; another time base | `waiting` |
/// | `waiting`, `empty` | the same | unchanged |
///
/// An interruption (`isInterrupted`) and the frames concealed for a loss (`concealedSinceExpected`)
/// are separate: each may occur in every phase.
enum PlayoutPhase: Equatable, Sendable, BitwiseCopyable {
  /// Sound that fills the time until a packet is due.
  enum Filler: Equatable, Sendable, BitwiseCopyable {
    /// Concealment, as the sender was speaking.
    case concealment
    /// Comfort noise, as the sender was silent.
    case comfortNoise
  }

  /// Nothing has been played.
  case empty
  /// The sender speaks, and each packet follows the one before.
  case playing
  /// The sender has announced silence.
  case silent
  /// The next packet begins a sentence, and waits for the target delay.
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

  /// True if the last packet announced silence.
  var isSilent: Bool {
    @_noAllocation @_noLocks get {
      switch self {
      case .silent, .waiting(.comfortNoise): true
      case .empty, .playing, .waiting(.concealment): false
      }
    }
  }

  /// Makes the next packet wait for the target delay.
  @_noAllocation @_noLocks
  mutating func wait() {
    switch self {
    case .playing: self = .waiting(.concealment)
    case .silent: self = .waiting(.comfortNoise)
    case .empty, .waiting: break
    }
  }
}
