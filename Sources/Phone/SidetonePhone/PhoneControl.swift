import CallSecurity
import Foundation
import MediaCore
import RealTime
import SIPSignalling

/// All calls of a phone, and the rules between them: conferences, replacements, and the maximum
/// number.
///
/// A value without I/O, like `PhoneCall`: methods with effects return them as orders, which the
/// phone carries out.
struct PhoneControl: Sendable {
  /// An effect for the phone to perform, and its call.
  struct Order: Equatable, Sendable {
    let call: UUID
    let effect: PhoneCallEffect
  }

  private(set) var calls: [PhoneCall] = []
  private let maximumCalls: Int
  private var hasWarnedOfScheduling = false

  /// Time for a service to permit real-time scheduling, in nanoseconds; a user may have to agree.
  private static let promotionNanoseconds: Int64 = 5_000_000_000

  init(maximumCalls: Int) {
    self.maximumCalls = maximumCalls
  }

  /// True while one more call can be accepted.
  ///
  /// Ringing strangers leave room for the user and for callers with whom there was a call before
  /// (`isKnown`).
  func hasRoom(forKnown isKnown: Bool) -> Bool {
    calls.count { !isKnown || !$0.isRingingStranger } < maximumCalls
  }

  subscript(uuid: UUID) -> PhoneCall? { calls.first { $0.uuid == uuid } }

  /// Returns the call of a dialog; nil if it has ended.
  func call(of sip: SIPCallID) -> PhoneCall? { calls.first { $0.sip == sip } }

  /// Returns the calls that are neither held nor ringing here, to end before another one is
  /// answered.
  func callsToEnd(before answered: UUID) -> [UUID] {
    calls.filter { $0.uuid != answered && $0.isActive }.map(\.uuid)
  }

  mutating func add(_ call: PhoneCall) {
    calls.append(call)
  }

  /// Forgets a call that the call system has refused.
  mutating func remove(_ uuid: UUID) {
    calls.removeAll { $0.uuid == uuid }
  }

  /// Changes the text by which a call's far side is shown.
  mutating func rename(_ uuid: UUID, to remote: String) {
    guard let index = index(of: uuid) else { return }
    calls[index].remote = remote
  }

  // MARK: Events

  /// Passes an event to one call, and returns the resulting orders.
  mutating func handle(
    _ event: PhoneCallEvent,
    of uuid: UUID,
    at now: MonotonicInstant
  ) -> [Order] {
    guard let index = index(of: uuid) else {
      return Self.orders(about: event, ofForgotten: uuid)
    }
    var orders = calls[index].handle(event, at: now).map { Order(call: uuid, effect: $0) }
    if calls[index].phase == .ended {
      orders += leaveConference(uuid)
      calls.remove(at: index)
    }
    return orders
  }

  /// Passes an event to every call, and returns the resulting orders.
  mutating func handle(_ event: PhoneCallEvent, at now: MonotonicInstant) -> [Order] {
    calls.map(\.uuid).flatMap { handle(event, of: $0, at: now) }
  }

  // A call may end while an INVITE or an action for it is on its way.
  private static func orders(about event: PhoneCallEvent, ofForgotten uuid: UUID) -> [Order] {
    switch event {
    case .perform(.end): [Order(call: uuid, effect: .fulfill)]
    case .perform, .inviteFailed, .accepted, .acceptFailed: [Order(call: uuid, effect: .fail)]
    case .invited(let sip, _):
      [
        Order(call: uuid, effect: .hangUp(sip, as: .declined)), Order(call: uuid, effect: .fail),
      ]
    case .mediaFailed, .voiceFailed, .progressed, .agreed, .routed, .established,
      .offerRefused, .present, .renegotiationFailed, .transferProgressed, .signallingEnded,
      .unreachable,
      .encrypted,
      .mediaReported, .timePassed, .activationFailed, .reset, .phoneStopped:
      []
    }
  }

  /// Returns a warning, once, if the voice thread has no real-time scheduling after a service had
  /// its time to permit it; else nil.
  mutating func noteScheduling(
    _ scheduling: RealTimeThread.Scheduling,
    at now: MonotonicInstant
  ) -> PhoneEvent? {
    let isLasting = calls.contains { call in
      guard let established = call.establishedAt, !call.isHeld else { return false }
      return now.nanoseconds(since: established) > Self.promotionNanoseconds
    }
    guard !hasWarnedOfScheduling, isLasting, scheduling == .ordinary else { return nil }
    hasWarnedOfScheduling = true
    return .error(
      "real-time scheduling is not permitted; sound may break up when the machine is busy"
    )
  }

  // MARK: Calls that make way

  /// The state of a call that another one is about to replace.
  struct Replacement: Equatable, Sendable {
    let uuid: UUID
    let remote: String
    /// True if this side held the call already.
    let wasHeld: Bool
    let isMuted: Bool
    /// The other calls in its conference.
    let others: [UUID]
    /// True if the user decides: the dialog's identifiers may have been read on their way, or the
    /// newcomer has a lower trust level.
    let asks: Bool
  }

  /// Returns the replacement that a newcomer with `media` asks for; nil if the call has ended, or
  /// is encrypted while the newcomer is not.
  func replacement(
    of replaced: ReplacedCall,
    by newcomer: UUID,
    _ media: NegotiatedMedia?
  ) -> Replacement? {
    guard let call = call(of: replaced.id) else { return nil }
    var isLower = false
    if case .encrypted(_, let standing)? = call.protection {
      let claimed = self[newcomer].flatMap { $0.rule.standing(of: media?.claim ?? .open) }
      guard let claimed else { return nil }
      isLower = claimed.isLower(than: standing)
    }
    return Replacement(
      uuid: call.uuid,
      remote: call.remote,
      wasHeld: call.isHeld,
      isMuted: call.isMuted,
      others: calls.filter { $0.uuid != call.uuid && isConference($0, call) }.map(\.uuid),
      asks: !replaced.isNameProven || isLower
    )
  }

  /// True unless a call is unencrypted while the `old` one, which it replaces, is encrypted.
  func isProtected(_ uuid: UUID, like old: UUID) -> Bool {
    guard case .encrypted? = self[old]?.protection else { return true }
    guard case .encrypted? = self[uuid]?.protection else { return false }
    return true
  }

  private func isConference(_ call: PhoneCall, _ other: PhoneCall) -> Bool {
    call.conference != 0 && call.conference == other.conference
  }

  /// The call that a further one would interrupt; nil if there is none.
  var active: UUID? { calls.first(where: \.isActive)?.uuid }

  /// True if no call is active that would have to be held for this one.
  func mayResume(_ uuid: UUID) -> Bool {
    guard let call = self[uuid] else { return false }
    return calls.allSatisfy { $0.uuid == uuid || !$0.isActive || isConference($0, call) }
  }

  // MARK: Conferences

  /// Adds a call to the conference of `other`, or takes it out of its conference if that is nil.
  mutating func setGroup(_ uuid: UUID, with other: UUID?) -> [Order] {
    guard index(of: uuid) != nil else { return [Order(call: uuid, effect: .fail)] }
    guard let other else {
      let orders = leaveConference(uuid)
      return orders + [
        Order(call: uuid, effect: .tell(.separated(uuid))), Order(call: uuid, effect: .fulfill),
      ]
    }
    guard other != uuid, let partner = self[other] else {
      return [Order(call: uuid, effect: .fail)]
    }
    var orders: [Order] = []
    var conference = partner.conference
    if conference == 0 {
      conference = (calls.map(\.conference).max() ?? 0) + 1
      orders += setConference(of: other, to: conference)
    }
    orders += setConference(of: uuid, to: conference)
    return orders + [
      Order(call: uuid, effect: .tell(.joined(uuid, with: other))),
      Order(call: uuid, effect: .fulfill),
    ]
  }

  private mutating func setConference(of uuid: UUID, to conference: Int) -> [Order] {
    guard let index = index(of: uuid), calls[index].conference != conference else { return [] }
    let left = calls[index].conference
    calls[index].conference = conference
    let order = [Order(call: uuid, effect: .setConference(conference))]
    return order + dissolve(left)
  }

  private mutating func leaveConference(_ uuid: UUID) -> [Order] {
    setConference(of: uuid, to: 0)
  }

  // A conference of one is none.
  private mutating func dissolve(_ conference: Int) -> [Order] {
    let members = calls.filter { $0.conference == conference }
    guard conference != 0, members.count == 1 else { return [] }
    return setConference(of: members[0].uuid, to: 0)
  }

  private func index(of uuid: UUID) -> Int? { calls.firstIndex { $0.uuid == uuid } }
}

extension PhoneCall {
  fileprivate var isRingingStranger: Bool {
    guard case .ringing = phase else { return false }
    return isByStranger
  }
}
