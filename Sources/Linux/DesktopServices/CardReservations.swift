import Foundation
import Synchronization

/// Reserves sound cards for direct access, by agreement with sound servers and other programs (the
/// desktop's device reservation protocol, `org.freedesktop.ReserveDevice1`).
///
/// The owner of a card's name on the user's bus has the card. A sound server that has it is asked
/// to release it, and takes it again when the name is free. Requests to us are refused, since a
/// call has priority. Without a bus every card is free, and is reserved once there is one.
///
/// **Thread safety:** any thread; waits 3 s at most for a holder.
package final class CardReservations: Sendable {
  /// The refusal of a program that keeps a card; `holder` names that program in words.
  package struct Refusal: Error, Equatable {
    package let holder: String
  }

  private static let interface = "org.freedesktop.ReserveDevice1"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let path = "/org/freedesktop/ReserveDevice1/Audio"
  /// Priority of this program's requests, above every sound server's.
  private static let priority = Int32.max
  /// Number of repeated checks, 10 ms apart, for a card that its holder has agreed to release.
  private static let patience = 50

  private let desktop: LastingBus
  /// Number of holders of each card in this process, by card number: one call's devices may come
  /// before another's have gone.
  private let holders = Mutex<[Int: Int]>([:])

  /// Reservations on the bus at `address`, by default the user's; it is connected to when it is
  /// needed.
  package init(address: String? = nil) {
    desktop = LastingBus(address: address)
    desktop.whenNew { Self.serve(on: $0) }
    desktop.whenBack { [weak self] in self?.takeAgain(on: $0) }
  }

  /// Takes a card; throws if another program keeps it.
  ///
  /// Returns true if another program has released it for that, and may still be closing it.
  @discardableResult
  package func take(card number: Int) throws(Refusal) -> Bool {
    try holders.withLock { holders throws(Refusal) in
      var wasReleased = false
      if holders[number] == nil, let bus = desktop.bus {
        wasReleased = try acquire(number, on: bus)
      }
      holders[number, default: 0] += 1
      return wasReleased
    }
  }

  /// Gives a card back, once for each `take`.
  package func giveBack(card number: Int) {
    holders.withLock { holders in
      guard let count = holders[number] else { return }
      holders[number] = count > 1 ? count - 1 : nil
      if count == 1 { desktop.current?.disown(Self.name(number)) }
    }
  }

  private func takeAgain(on bus: BusConnection) {
    for number in holders.withLock({ Array($0.keys) }) {
      holders.withLock { holders in
        // The card is open here: a program that refuses has the name and nothing else.
        if holders[number] != nil { _ = try? acquire(number, on: bus) }
      }
    }
  }

  private static let unnamed = "another program"

  private static func name(_ number: Int) -> String { "\(interface).Audio\(number)" }

  private func acquire(_ number: Int, on bus: BusConnection) throws(Refusal) -> Bool {
    let name = Self.name(number)
    guard bus.own(name) == false else { return false }
    let path = "\(Self.path)\(number)"
    let answer = bus.ask(
      name,
      path: path,
      interface: Self.interface,
      "RequestRelease",
      [.int32(Self.priority)]
    )
    // A holder that does not answer would not give its name either.
    guard let reply = try? answer.get() else {
      if bus.own(name) ?? true { return false }
      throw Refusal(holder: Self.unnamed)
    }
    if reply == [.bool(true)] {
      // Some release the name a moment after they have agreed.
      for attempt in 0...Self.patience {
        if attempt > 0 { Thread.sleep(forTimeInterval: 0.01) }
        if bus.own(name, replacing: true) ?? true { return true }
      }
    }
    let holder = bus.property("ApplicationName", of: Self.interface, at: path, on: name)
    guard case .string(let words)? = holder, !words.isEmpty else {
      throw Refusal(holder: Self.unnamed)
    }
    throw Refusal(holder: words)
  }

  private static func serve(on bus: BusConnection) {
    bus.answer(interface) { $0.member == "RequestRelease" ? [.bool(false)] : nil }
    bus.answer(properties) { message in
      let values: [String: BusValue] = [
        "Priority": .int32(priority), "ApplicationName": .string("Sidetone"),
        "ApplicationDeviceName": .string("hw:\(message.path.dropFirst(path.count))"),
      ]
      if message.member == "GetAll" { return [.dictionary(values)] }
      guard message.member == "Get", case .string(let name)? = message.arguments.last else {
        return nil
      }
      return values[name].map { [.variant($0)] }
    }
  }
}
