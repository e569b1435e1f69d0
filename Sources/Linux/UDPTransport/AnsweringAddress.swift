import CLinux
import MediaCore
import Synchronization

/// Addresses at which the far side of a call is known to receive, shared by all owners of its
/// socket.
///
/// These are an address that has answered and the host that the far side's signalling comes from.
/// The budget for datagrams to other addresses is kept here as well.
final class AnsweringAddress: Sendable {
  // Marks, since an address does not fit into an atomic.
  private let address = Atomic<UInt64>(0)
  private let host = Atomic<UInt64>(0)
  private let turn = Atomic<Int64>(0)
  /// Mark of the address that was tried last, and the number of datagrams sent there.
  private let tried = Atomic<UInt64>(0)
  private let spent = Atomic<Int64>(0)

  // Drawn for each process.
  private static let key = UInt64.random(in: .min ... .max)

  /// A keyed hash of an address and its port, since an address does not fit into an atomic.
  static func mark(of address: AddressStorage) -> UInt64 {
    var raw = address.raw
    return unsafe realtime_address_mark(&raw, 1, key)
  }

  /// A keyed hash of an address without its port.
  static func hostMark(of address: AddressStorage) -> UInt64 {
    var raw = address.raw
    return unsafe realtime_address_mark(&raw, 0, key)
  }

  /// An uncounted reference for the voice thread: counting may wait for other threads.
  struct Lent: BitwiseCopyable, Sendable {
    private let place: Int
    private let key: UInt64

    /// Refers to an object that is kept alive elsewhere.
    init(_ object: AnsweringAddress) {
      // SAFETY: only turned back into a reference by `use`, while the socket keeps the object.
      place = unsafe Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())
      key = AnsweringAddress.key
    }

    private var reference: Unmanaged<AnsweringAddress>? {
      @_noAllocation @_noLocks get {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: place) else { return nil }
        // SAFETY: the place is that of an object of this type, which the socket keeps.
        return unsafe Unmanaged<AnsweringAddress>.fromOpaque(pointer)
      }
    }

    /// Notes the mark of an address that has answered.
    @_noAllocation @_noLocks
    func note(_ mark: UInt64) {
      unsafe reference?._withUnsafeGuaranteedRef {
        $0.address.store(mark, ordering: .relaxed)
        guard $0.tried.load(ordering: .acquiring) == mark else { return }
        let count = $0.spent.exchange(0, ordering: .relaxed)
        guard count > 0 else { return }
        let turn = $0.turn.load(ordering: .relaxed)
        let next = UnansweredLimit.refund(turn, count)
        _ = $0.turn.compareExchange(expected: turn, desired: next, ordering: .relaxed)
      }
    }

    /// Notes the mark of the host that the far side's signalling comes from.
    func noteHost(_ mark: UInt64) {
      unsafe reference?._withUnsafeGuaranteedRef { $0.host.store(mark, ordering: .relaxed) }
    }

    /// True for the mark of the last address that has answered.
    @_noAllocation @_noLocks
    func isKnown(_ mark: UInt64) -> Bool {
      let known = unsafe reference?._withUnsafeGuaranteedRef { $0.address.load(ordering: .relaxed) }
      return known == mark
    }

    /// True for the mark of the host that the far side's signalling comes from.
    @_noAllocation @_noLocks
    func isKnownHost(_ mark: UInt64) -> Bool {
      let known = unsafe reference?._withUnsafeGuaranteedRef { $0.host.load(ordering: .relaxed) }
      return known == mark
    }

    /// True if one more datagram may go to the address of a mark, which is not known
    /// (`UnansweredLimit`).
    @_noAllocation @_noLocks
    func mayTry(_ mark: UInt64, at now: MonotonicInstant) -> Bool {
      guard let reference = unsafe reference else { return false }
      let turn = unsafe reference._withUnsafeGuaranteedRef { $0.turn.load(ordering: .relaxed) }
      guard let next = UnansweredLimit.take(turn, at: now.nanoseconds) else { return false }
      // Where another owner has just taken one, this one waits for its next datagram.
      return unsafe reference._withUnsafeGuaranteedRef {
        // First the number: none that went elsewhere is given back for this address.
        if $0.tried.load(ordering: .relaxed) != mark {
          $0.spent.store(0, ordering: .relaxed)
          $0.tried.store(mark, ordering: .releasing)
        }
        let isTaken =
          $0.turn.compareExchange(expected: turn, desired: next, ordering: .relaxed).exchanged
        if isTaken { $0.spent.add(1, ordering: .relaxed) }
        return isTaken
      }
    }

    /// The mark of an address without its port.
    @_noAllocation @_noLocks
    func hostMark(of raw: inout sockaddr_storage) -> UInt64 {
      unsafe realtime_address_mark(&raw, 0, key)
    }
  }
}
