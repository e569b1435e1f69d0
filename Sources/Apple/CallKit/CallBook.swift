import CallState
import CallStore
import Foundation

/// The user's block lists and recent calls, for the call system.
///
/// Without a store, no caller is blocked and no call kept. Confined to the call system's queue;
/// records are written on a queue of its own, since a load of the call directory may hold the store
/// for long.
struct CallBook {
  private let open: () throws -> CallStore
  private var opened: CallStore?
  /// Last reported reason why the store could not be opened; nil if none was reported.
  private var complaint: String?
  /// Earliest time of the next attempt to open the store; nil for any time.
  private var nextTry: ContinuousClock.Instant?
  /// Duration up to which a failed attempt to open the store is repeated for the next call.
  ///
  /// After a longer one, such as on a store that another program holds, no attempt is made for
  /// `pause`, since the call system's queue waits for each.
  private static let shortTry = Duration.milliseconds(100)
  private static let pause = Duration.seconds(60)
  private let writing = DispatchQueue(label: "callkit.book")
  private let unwritten = DispatchGroup()

  /// Creates the book of the store that `open` opens, by default this user's.
  init(_ open: @escaping () throws -> CallStore = { try CallStore(in: CallStore.defaultFolder) }) {
    self.open = open
  }

  // One that cannot be opened is tried again for each call: descriptors may be used up for a while.
  private mutating func store() -> CallStore? {
    let begin = ContinuousClock.now
    if opened != nil || nextTry.map({ begin < $0 }) == true { return opened }
    do {
      opened = try open()
    } catch {
      let end = ContinuousClock.now
      nextTry = end - begin > Self.shortTry ? end + Self.pause : nil
      let reason = "recent calls and block lists cannot be used: \(error)"
      if reason != complaint { Self.complain(reason) }
      complaint = reason
    }
    return opened
  }

  /// Looks a caller up in the user's lists and the call directory (R40, R51).
  ///
  /// `isQuiet` is true during the desktop's Do Not Disturb.
  mutating func screening(of handle: CallHandle?, isQuiet: Bool = false) -> CallerScreening {
    let standing: CallerStanding?
    do {
      standing = try store()?.standing(of: handle?.value ?? "", isQuiet: isQuiet)
    } catch {
      Self.complain("the block lists cannot be read: \(error)")
      standing = nil
    }
    guard let standing else { return CallerScreening(isSilenced: isQuiet) }
    return CallerScreening(
      isBlocked: standing.isBlocked,
      isSilenced: standing.isSilenced,
      label: standing.label
    )
  }

  /// Adds an ended call to the recent calls (R104).
  mutating func add(_ record: CallRecord) {
    let details = record.details
    let recent = RecentCall(
      call: record.id.uuid,
      app: record.app,
      handleKind: details.remoteHandle?.kind.rawValue ?? CallHandle.Kind.generic.rawValue,
      handle: details.remoteHandle?.value ?? "",
      name: details.displayName,
      isOutgoing: record.isOutgoing,
      hasVideo: details.hasVideo,
      started: Date(record.started),
      connected: record.connected.map { Date($0) },
      ended: Date(record.ended),
      result: record.result.rawValue,
      canBeCalledBack: record.canBeCalledBack
    )
    writing.async(group: unwritten) { [store = store()] in
      do {
        try store?.add(recent)
      } catch {
        let reason = CallStoreError.reason(of: error)
        Self.complain("a call is not in the list of recent ones: the data folder: \(reason)")
      }
    }
  }

  private static func complain(_ text: String) {
    // There may be no standard error to write to.
    try? FileHandle.standardError.write(contentsOf: Data("callkit: \(text)\n".utf8))
  }

  /// Blocks until all records are written, for two seconds at most.
  func flush() {
    _ = unwritten.wait(timeout: .now() + 2)
  }
}

extension Date {
  init(_ date: CallDate) {
    self.init(timeIntervalSince1970: date.secondsSince1970)
  }
}
