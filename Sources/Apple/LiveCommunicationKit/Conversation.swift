public import Foundation
import Synchronization

/// A conversation with one or more others.
///
/// Differs from Apple's: it is not `Observable`; `conversationChanged` tells of each change.
///
/// **Thread safety:** every member may be used from any thread.
public final class Conversation: Sendable, CustomDebugStringConvertible {
  /// How far a conversation is.
  public enum State: Int, Codable, Hashable, Sendable {
    /// It rings here.
    case idle
    /// It is being set up.
    case joining
    /// Those in it hear each other.
    case joined
    /// It is on hold.
    case paused
    /// It is being ended here.
    case leaving
    /// It is over.
    case left
  }

  /// What an app reports.
  public enum Event: Codable, Hashable, Sendable {
    /// The far side is being connected with.
    case conversationStartedConnecting(Date)
    /// Both sides can talk.
    case conversationConnected(Date)
    /// It is over, and why.
    case conversationEnded(Date, EndedReason)
    /// Members or capabilities have changed.
    case conversationUpdated(Update)
  }

  /// Why a conversation is over, where this side did not end it.
  public enum EndedReason: Int, Codable, Hashable, Sendable {
    /// An error ended it.
    case failed
    /// The far side has left.
    case remoteEnded
    /// It was never connected.
    case unanswered
    /// It was joined on another device.
    case joinedElsewhere
    /// It was declined on another device.
    case declinedElsewhere
  }

  /// What a conversation can do.
  public struct Capabilities: OptionSet, Codable, Hashable, Sendable {
    /// A bit for each.
    public var rawValue: Int

    /// Capabilities by their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// It can be put on hold.
    public static let pausing = Capabilities(rawValue: 1)
    /// It can be joined with another.
    public static let merging = Capabilities(rawValue: 2)
    /// It can be taken apart again.
    public static let unmerging = Capabilities(rawValue: 4)
    /// It has pictures.
    public static let video = Capabilities(rawValue: 8)
    /// It can carry tones.
    public static let playingTones = Capabilities(rawValue: 16)
  }

  /// What is new about a conversation; nil leaves it as it is.
  public struct Update: Codable, Hashable, Sendable {
    /// This side.
    public var localMember: Handle?
    /// Everybody who is invited.
    public var members: Set<Handle>?
    /// Those who are heard now.
    public var activeRemoteMembers: Set<Handle>?
    /// What the conversation can do.
    public var capabilities: Capabilities?

    /// An update of the given parts.
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

  /// The conversation's identity.
  public let uuid: UUID
  /// Whether this side has started it.
  let isOutgoing: Bool
  private let progress: Mutex<Progress>

  init(uuid: UUID, isOutgoing: Bool, localMember: Handle? = nil) {
    self.uuid = uuid
    self.isOutgoing = isOutgoing
    progress = Mutex(Progress(state: isOutgoing ? .joining : .idle, localMember: localMember))
  }

  /// How far it is.
  public var state: State { progress.withLock { $0.state } }

  /// This side, if the app has said who that is.
  public var localMember: Handle? { progress.withLock { $0.localMember } }

  /// For logs.
  public var debugDescription: String { "Conversation \(uuid), \(state)" }

  /// Takes a new state; false if it is the old one, or the conversation is over.
  func move(to state: State) -> Bool {
    progress.withLock { progress in
      guard progress.state != state, progress.state != .left else { return false }
      progress.state = state
      return true
    }
  }

  /// Takes in who this side is.
  func update(localMember: Handle) {
    progress.withLock { $0.localMember = localMember }
  }
}
