import ALSAIO
import RealTime
import Synchronization

/// The cards that the devices of one running session are on, each reserved for as long as one of them is.
///
/// **Thread safety:** any thread.
final class ReservedCards: Sendable {
  private let reservations: CardReservations
  private let cards = Mutex<Set<Int>>([])

  init(_ reservations: CardReservations) {
    self.reservations = reservations
  }

  deinit {
    giveBackAll()
  }

  /// Reserves the card of a device, if it is on one; throws `busy` if another program keeps it.
  func take(for device: DeviceName, among plugged: [SoundCard]) throws(AudioDeviceError) {
    guard let number = CardName(device)?.card(among: plugged)?.number,
      !cards.withLock({ $0.contains(number) })
    else { return }
    do throws(CardReservations.Refusal) {
      try reservations.take(card: number)
    } catch {
      throw AudioDeviceError(
        kind: .busy,
        device: device.description,
        operation: "RequestRelease",
        reason: "\(error.holder) has reserved it; close that program or choose another device"
      )
    }
    if !cards.withLock({ $0.insert(number).inserted }) { reservations.giveBack(card: number) }
  }

  /// Gives all cards back but those of these devices.
  func keep(_ devices: [DeviceName], among plugged: [SoundCard]) {
    let used = devices.compactMap { CardName($0)?.card(among: plugged)?.number }
    giveBack { !used.contains($0) }
  }

  /// Gives all cards back.
  func giveBackAll() { giveBack { _ in true } }

  private func giveBack(where isUnused: (Int) -> Bool) {
    let unused = cards.withLock { cards in
      let unused = cards.filter(isUnused)
      cards.subtract(unused)
      return unused
    }
    for number in unused { reservations.giveBack(card: number) }
  }
}
