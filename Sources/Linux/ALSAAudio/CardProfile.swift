import CALSA
import Glibc
import RealTime
import Synchronization

/// A card's profile of ALSA's Use Case Manager: the switches that connect a PCM to a port such as a
/// headset.
///
/// One exists for each card and process, since alsa-lib keeps in it what has been switched on; that
/// stays on after `deinit`. Jacks are checked when a device is opened, and not later.
///
/// **Thread safety:** one thread at a time; `setUp` sees to that.
@safe
final class CardProfile {
  private static let profiles = Mutex<[Int: CardProfile]>([:])

  private let manager: OpaquePointer
  private let card: SoundCard
  /// Inode of the card's device file; a card that is plugged in again has another, and nothing is
  /// switched on.
  private let node: UInt
  private var enabled: [StreamDirections: String] = [:]

  /// Switches on the paths between devices that are about to be opened and their best ports, where
  /// their cards have profiles.
  static func setUp(capture: DeviceName, playback: DeviceName) {
    let cards = SoundCard.all()
    for (side, device) in [(StreamDirections.capture, capture), (.playback, playback)] {
      guard let name = CardName(device), let card = name.card(among: cards) else { continue }
      profiles.withLock { profiles in
        let node = Self.node(ofCard: card.number)
        if profiles[card.number]?.node != node {
          profiles[card.number] = CardProfile(card, node: node)
        }
        profiles[card.number]?.enable(side, device: name.device)
      }
    }
  }

  private init?(_ card: SoundCard, node: UInt) {
    AlsaMessage.silence()
    var opened: OpaquePointer?
    guard unsafe snd_use_case_mgr_open(&opened, "hw:\(card.number)") == 0,
      let manager = unsafe opened
    else { return nil }
    unsafe self.manager = manager
    self.card = card
    self.node = node
  }

  deinit {
    _ = unsafe snd_use_case_mgr_close(manager)
  }

  private static func node(ofCard number: Int) -> UInt {
    var status = stat()
    return unsafe stat("/dev/snd/controlC\(number)", &status) == 0 ? UInt(status.st_ino) : 0
  }

  private func enable(_ side: StreamDirections, device: String) {
    guard let verb = ProfilePlan.verb(among: list("_verbs")) else { return }
    let kind = side == .capture ? "CapturePCM" : "PlaybackPCM"
    // What the verb says for all ports is not meant: hence the equals sign.
    let ports = list("_devices/\(verb)").map { name in
      ProfilePlan.Port(
        name: name,
        pcm: value("=\(kind)/\(name)/\(verb)"),
        isPlugged: value("=JackControl/\(name)/\(verb)").flatMap { isOn($0) }
      )
    }
    let former = enabled[side]
    guard let port = ProfilePlan.port(among: ports, device: device, of: card),
      port.name != former, unsafe snd_use_case_set(manager, "_verb", verb) == 0
    else { return }
    enabled[side] = port.name
    if let former, !enabled.values.contains(former) {
      _ = unsafe snd_use_case_set(manager, "_disdev", former)
    }
    _ = unsafe snd_use_case_set(manager, "_enadev", port.name)
  }

  // Names, each of which a comment follows.
  private func list(_ identifier: String) -> [String] {
    var entries: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    let count = unsafe snd_use_case_get_list(manager, identifier, &entries)
    guard count > 0, let list = unsafe entries else { return [] }
    defer { _ = unsafe snd_use_case_free_list(list, count) }
    return stride(from: 0, to: Int(count), by: 2).compactMap { index in
      unsafe list[index].map { unsafe String(cString: $0) }
    }
  }

  private func value(_ identifier: String) -> String? {
    var text: UnsafePointer<CChar>?
    guard unsafe snd_use_case_get(manager, identifier, &text) == 0, let text = unsafe text else {
      return nil
    }
    defer { unsafe free(UnsafeMutableRawPointer(mutating: text)) }
    return unsafe String(cString: text)
  }

  // Whether the card's control of that name, as of a socket, is on.
  private func isOn(_ control: String) -> Bool? {
    var (opened, id, value): (OpaquePointer?, OpaquePointer?, OpaquePointer?) = (nil, nil, nil)
    defer {
      if let opened = unsafe opened { _ = unsafe snd_ctl_close(opened) }
      if let id = unsafe id { unsafe snd_ctl_elem_id_free(id) }
      if let value = unsafe value { unsafe snd_ctl_elem_value_free(value) }
    }
    guard unsafe snd_ctl_open(&opened, "hw:\(card.number)", 0) == 0,
      unsafe snd_ctl_elem_id_malloc(&id) == 0, unsafe snd_ctl_elem_value_malloc(&value) == 0,
      unsafe snd_use_case_parse_ctl_elem_id(id, "JackControl", control) == 0
    else { return nil }
    unsafe snd_ctl_elem_value_set_id(value, id)
    guard unsafe snd_ctl_elem_read(opened, value) == 0 else { return nil }
    return unsafe snd_ctl_elem_value_get_boolean(value, 0) != 0
  }
}
