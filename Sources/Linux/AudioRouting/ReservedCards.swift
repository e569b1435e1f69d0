package import ALSAAudio
package import DesktopServices
import Foundation
import MediaCore
import RealTime
import Synchronization

/// Reservations of the cards that a running session's devices are on, each kept as long as one of
/// its devices is on the card.
package final class ReservedCards: Sendable {
  private struct State {
    var held: Set<Int> = []
    /// Cards that could not be reserved or opened, each with the time from which its holder may be
    /// asked again.
    var resting: [Int: MonotonicInstant] = [:]
  }

  private let reservations: CardReservations
  private let state = Mutex(State())

  /// Pause before a program that keeps a card is asked for it again, in nanoseconds.
  private static let rest: Int64 = 5_000_000_000
  /// Number of attempts, 20 ms apart, to open a card that another program is still closing.
  private static let patience = 25

  package init(_ reservations: CardReservations) {
    self.reservations = reservations
  }

  deinit {
    giveBackAll()
  }

  /// Reserves the card of a device, if it is on one, and opens the device.
  ///
  /// Throws `busy` if another program keeps the card, or else the error of `open`. A card that
  /// another program has just released is tried for half a second, since it has to be closed first.
  func reserving<Opened: ~Copyable>(
    _ device: DeviceName,
    among plugged: [SoundCard],
    open: () throws(AudioDeviceError) -> Opened
  ) throws(AudioDeviceError) -> Opened {
    guard let number = CardName(device)?.card(among: plugged)?.number else { return try open() }
    let wasReleased = try take(number, for: device)
    for _ in 0..<(wasReleased ? Self.patience : 0) {
      do {
        return try open()
      } catch {
        guard error.kind == .busy else { throw error }
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
    do {
      return try open()
    } catch {
      // A holder that released it to no effect is not asked again for a while.
      if wasReleased { rest(number) }
      throw error
    }
  }

  /// Reserves the cards of devices where their holders allow it.
  package func hold(_ devices: [DeviceName], among plugged: [SoundCard]) {
    for device in devices {
      guard let number = CardName(device)?.card(among: plugged)?.number else { continue }
      // One that another program keeps is asked for again when it is opened.
      _ = try? take(number, for: device)
    }
  }

  // True if another program has just released the card.
  private func take(_ number: Int, for device: DeviceName) throws(AudioDeviceError) -> Bool {
    let now = MonotonicClock.now()
    let (isHeld, isResting) = state.withLock { state in
      (state.held.contains(number), state.resting[number].map { now < $0 } ?? false)
    }
    guard !isHeld else { return false }
    guard !isResting else { throw Self.busy(device, "another program has it") }
    let wasReleased: Bool
    do throws(CardReservations.Refusal) {
      wasReleased = try reservations.take(card: number)
    } catch {
      rest(number)
      throw Self.busy(device, "\(error.holder) has reserved it")
    }
    let isNew = state.withLock { $0.held.insert(number).inserted }
    if !isNew { reservations.giveBack(card: number) }
    return wasReleased
  }

  private func rest(_ number: Int) {
    let end = MonotonicClock.now().advanced(byNanoseconds: Self.rest)
    state.withLock { $0.resting[number] = end }
  }

  private static func busy(_ device: DeviceName, _ reason: String) -> AudioDeviceError {
    AudioDeviceError(
      kind: .busy,
      device: device.description,
      operation: "RequestRelease",
      reason: "\(reason); close that program or choose another device"
    )
  }

  /// Gives back all cards except those of these devices.
  func keep(_ devices: [DeviceName], among plugged: [SoundCard]) {
    let used = devices.compactMap { CardName($0)?.card(among: plugged)?.number }
    giveBack { !used.contains($0) }
  }

  /// Gives all cards back.
  func giveBackAll() { giveBack { _ in true } }

  private func giveBack(where isUnused: (Int) -> Bool) {
    let unused = state.withLock { state in
      let unused = state.held.filter(isUnused)
      state.held.subtract(unused)
      return unused
    }
    for number in unused { reservations.giveBack(card: number) }
  }
}
