public import Foundation
public import Observation
import Synchronization

/// A conversation with one or more remote members.
///
/// **Thread safety:** every member may be used from any thread. Observers are notified on the
/// thread that makes the change: of states on the main queue, or where
/// `ConversationManager.invalidate` is called.
public final class Conversation: Sendable, Observable, CustomDebugStringConvertible {
  /// Phase of a conversation, from ringing to its end.
  public enum State: Int, Codable, Hashable, Sendable {
    /// Ringing on this device.
    case idle
    /// Being set up.
    case joining
    /// Connected: its members can talk.
    case joined
    /// On hold.
    case paused
    /// Being ended by this side.
    case leaving
    /// Over.
    case left
  }

  /// A change of a conversation that an app reports to the system.
  public enum Event: Codable, Hashable, Sendable {
    /// The connection to the remote side is being set up.
    case conversationStartedConnecting(Date)
    /// Both sides can talk.
    case conversationConnected(Date)
    /// The conversation ended, for the given reason.
    case conversationEnded(Date, EndedReason)
    /// Members or capabilities changed.
    case conversationUpdated(Update)
  }

  /// Reason why a conversation ended, unless this side ended it.
  public enum EndedReason: Int, Codable, Hashable, Sendable {
    /// An error ended it.
    case failed
    /// The remote side left.
    case remoteEnded
    /// It was never connected.
    case unanswered
    /// It was joined on another device.
    case joinedElsewhere
    /// It was declined on another device.
    case declinedElsewhere
  }

  /// Operations and media that a conversation supports.
  public struct Capabilities: OptionSet, Codable, Hashable, Sendable {
    /// A bit for each capability.
    public var rawValue: Int

    /// Creates a set of capabilities from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Can be put on hold.
    public static let pausing = Capabilities(rawValue: 1)
    /// Can be merged with another conversation.
    public static let merging = Capabilities(rawValue: 2)
    /// Can be taken out of a merged conversation.
    public static let unmerging = Capabilities(rawValue: 4)
    /// Has video.
    public static let video = Capabilities(rawValue: 8)
    /// Can send DTMF digits.
    public static let playingTones = Capabilities(rawValue: 16)
  }

  /// Changed properties of a conversation; nil leaves a property as it is.
  public struct Update: Codable, Hashable, Sendable {
    /// Handle of this side.
    public var localMember: Handle?
    /// Everyone invited to the conversation.
    public var members: Set<Handle>?
    /// Remote members who take part now, in contrast to those who are only invited.
    public var activeRemoteMembers: Set<Handle>?
    /// Operations and media that the conversation supports.
    public var capabilities: Capabilities?

    /// Creates an update of the given properties.
    public init(
      localMember: Handle? = nil,
      members: Set<Handle>? = nil,
      activeRemoteMembers: Set<Handle>? = nil,
      capabilities: Capabilities? = nil
    ) {
      self.localMember = localMember
      self.members = members
      self.activeRemoteMembers = activeRemoteMembers
      self.capabilities = capabilities
    }
  }

  private struct Progress {
    var state: State
    var localMember: Handle?
  }

  /// Identity of the conversation.
  public let uuid: UUID
  /// True if this side started the conversation.
  let isOutgoing: Bool
  private let progress: Mutex<Progress>
  private let registrar = ObservationRegistrar()

  init(uuid: UUID, isOutgoing: Bool, localMember: Handle? = nil) {
    self.uuid = uuid
    self.isOutgoing = isOutgoing
    progress = Mutex(Progress(state: isOutgoing ? .joining : .idle, localMember: localMember))
  }

  /// Current phase.
  public var state: State {
    registrar.access(self, keyPath: \.state)
    return progress.withLock { $0.state }
  }

  /// Handle of this side; nil until the app sets it.
  public var localMember: Handle? {
    registrar.access(self, keyPath: \.localMember)
    return progress.withLock { $0.localMember }
  }

  /// Identity and state, for logs.
  public var debugDescription: String { "Conversation \(uuid), \(state)" }

  /// Changes the state.
  ///
  /// - Returns: false if the conversation is in that state already, or is over.
  func move(to state: State) -> Bool {
    func moves(from old: State) -> Bool { old != state && old != .left }
    guard progress.withLock({ moves(from: $0.state) }) else { return false }
    return registrar.withMutation(of: self, keyPath: \.state) {
      progress.withLock { progress in
        guard moves(from: progress.state) else { return false }
        progress.state = state
        return true
      }
    }
  }

  /// Sets the handle of this side.
  func update(localMember: Handle) {
    registrar.withMutation(of: self, keyPath: \.localMember) {
      progress.withLock { $0.localMember = localMember }
    }
  }
}
