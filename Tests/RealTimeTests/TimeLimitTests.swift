import RealTime
import Synchronization
import Testing

struct TimeLimitTests {
  /// A device that counts how many of it are open.
  private struct Counted: ~Copyable, Sendable {
    final class Shelf: Sendable {
      let open = Atomic<Int>(0)
    }

    let shelf: Shelf

    init(on shelf: Shelf) {
      self.shelf = shelf
      shelf.open.add(1, ordering: .relaxed)
    }

    deinit { shelf.open.subtract(1, ordering: .relaxed) }
  }

  @Test func outcomeInTimeIsReturned() {
    #expect(TimeLimit.run(milliseconds: 60_000, named: "quick") { 7 } == 7)
  }

  @Test func ownerThatComesInTimeIsTheCallers() {
    let shelf = Counted.Shelf()
    let counted = TimeLimit.run(milliseconds: 60_000, named: "quick") { Counted(on: shelf) }
    let isThere = counted != nil
    #expect(isThere)
    #expect(shelf.open.load(ordering: .relaxed) == 1)
    _ = consume counted
    #expect(shelf.open.load(ordering: .relaxed) == 0)
  }

  @Test func workThatHangsIsGivenUpAndItsOutcomeReleased() throws {
    let shelf = Counted.Shelf()
    let (answer, released) = (try WakeEvent(), try WakeEvent())
    let outcome = TimeLimit.run(
      milliseconds: 1,
      named: "hanging",
      late: { (counted: consuming Counted) in
        _ = consume counted
        released.signal()
      },
      { () -> Counted in
        answer.wait()
        return Counted(on: shelf)
      }
    )
    let isGivenUp = outcome == nil
    #expect(isGivenUp)
    answer.signal()
    released.wait()
    #expect(shelf.open.load(ordering: .relaxed) == 0)
  }

  @Test func parcelIsTakenOnce() {
    let parcel = Parcel(3)
    #expect(parcel.take() == 3)
    #expect(parcel.take() == nil)
  }
}
