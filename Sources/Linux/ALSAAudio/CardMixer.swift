import CALSA
package import RealTime

/// A sound card's mixer, by alsa-lib's simple mixer interface.
///
/// **Life cycle:** opened by the initialiser, closed by `deinit`. **Thread safety:** one thread at
/// a time.
@safe
package struct CardMixer: ~Copyable {
  private let handle: OpaquePointer

  /// The mixer of the card with that number; nil if it cannot be opened.
  package init?(card number: Int) {
    AlsaMessage.silence()
    var opened: OpaquePointer?
    guard unsafe snd_mixer_open(&opened, 0) == 0, let handle = unsafe opened else { return nil }
    guard unsafe snd_mixer_attach(handle, "hw:\(number)") == 0,
      unsafe snd_mixer_selem_register(handle, nil, nil) == 0, unsafe snd_mixer_load(handle) == 0
    else {
      _ = unsafe snd_mixer_close(handle)
      return nil
    }
    unsafe self.handle = handle
  }

  deinit {
    _ = unsafe snd_mixer_close(handle)
  }

  /// Turns up each control of the voice path through these sides that is at the bottom of its
  /// range, and switches it on if it is off.
  ///
  /// Nothing else is touched: levels and mutes that the user has chosen stay. A card that was never
  /// used is often silent.
  package func makeAudible(_ sides: StreamDirections) {
    let elements = unsafe elements()
    for change in unsafe changes(for: sides, among: elements) {
      for index in unsafe elements.indices { unsafe Self.perform(change, on: elements[index]) }
    }
  }

  /// The sides on which `makeAudible` would change a control of the voice path.
  package func inaudible(among sides: StreamDirections) -> StreamDirections {
    let elements = unsafe elements()
    var found: StreamDirections = []
    for side in [StreamDirections.capture, .playback] where sides.contains(side) {
      if unsafe !changes(for: side, among: elements).isEmpty { found.insert(side) }
    }
    return found
  }

  private func changes(
    for sides: StreamDirections,
    among elements: [OpaquePointer]
  ) -> [MixerPlan.Change] {
    var controls: [MixerPlan.Control] = []
    for index in unsafe elements.indices { unsafe controls += Self.controls(of: elements[index]) }
    return [StreamDirections.capture, .playback].filter { sides.contains($0) }
      .flatMap { MixerPlan(for: $0, controls: controls).changes }
  }

  private func elements() -> [OpaquePointer] {
    var found: [OpaquePointer] = unsafe []
    var next = unsafe snd_mixer_first_elem(handle)
    while let element = unsafe next {
      if unsafe snd_mixer_selem_is_active(element) != 0 { unsafe found.append(element) }
      unsafe next = snd_mixer_elem_next(element)
    }
    return unsafe found
  }

  private static func name(of element: OpaquePointer) -> String {
    unsafe snd_mixer_selem_get_name(element).map { unsafe String(cString: $0) } ?? ""
  }

  private static func controls(of element: OpaquePointer) -> [MixerPlan.Control] {
    let name = unsafe name(of: element)
    return [StreamDirections.capture, .playback].compactMap { side in
      let calls = MixerCalls(side)
      let hasSwitch = unsafe calls.hasSwitch(element) != 0
      let hasVolume = unsafe calls.hasVolume(element) != 0
      guard hasSwitch || hasVolume else { return nil }
      let index = unsafe snd_mixer_selem_get_index(element)
      var control = MixerPlan.Control(name: name, index: index, side: side)
      var isOn: CInt = 0
      if hasSwitch, unsafe calls.getSwitch(element, SND_MIXER_SCHN_MONO, &isOn) == 0 {
        control.isOn = isOn != 0
        control.isChoice =
          unsafe side == .capture && snd_mixer_selem_has_capture_switch_exclusive(element) != 0
      }
      guard hasVolume, let range = unsafe range(of: element, calls) else { return control }
      var volume = 0
      if unsafe calls.getVolume(element, SND_MIXER_SCHN_MONO, &volume) == 0 {
        control.level = share(volume, of: range)
      }
      // At 0 dB, or just below.
      if unsafe calls.askDecibels(element, 0, -1, &volume) == 0 {
        control.neutralLevel = share(volume, of: range)
      }
      return control
    }
  }

  private static func range(
    of element: OpaquePointer,
    _ calls: MixerCalls
  ) -> ClosedRange<Int>? {
    var (lowest, highest) = (0, 0)
    let code = unsafe calls.getRange(element, &lowest, &highest)
    return code == 0 && lowest < highest ? lowest...highest : nil
  }

  private static func span(_ range: ClosedRange<Int>) -> Double {
    Double(range.upperBound) - Double(range.lowerBound)
  }

  private static func share(_ volume: Int, of range: ClosedRange<Int>) -> Double {
    max(0, min(1, (Double(volume) - Double(range.lowerBound)) / span(range)))
  }

  private static func perform(_ change: MixerPlan.Change, on element: OpaquePointer) {
    guard unsafe name(of: element) == change.control.name,
      unsafe snd_mixer_selem_get_index(element) == change.control.index
    else { return }
    let calls = MixerCalls(change.control.side)
    switch change {
    case .turnOn:
      _ = unsafe calls.setSwitch(element, 1)
    case .raise(_, let level):
      guard let range = unsafe range(of: element, calls) else { return }
      let volume = Double(range.lowerBound) + (level * span(range)).rounded()
      _ = unsafe calls.setVolume(element, Int(volume))
    }
  }
}

/// The simple mixer's functions for one side of a card.
@safe
private struct MixerCalls {
  let hasSwitch: (OpaquePointer) -> CInt
  let hasVolume: (OpaquePointer) -> CInt
  let getSwitch: (OpaquePointer, snd_mixer_selem_channel_id_t, UnsafeMutablePointer<CInt>) -> CInt
  let getVolume: (OpaquePointer, snd_mixer_selem_channel_id_t, UnsafeMutablePointer<Int>) -> CInt
  let getRange: (OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<Int>) -> CInt
  let askDecibels: (OpaquePointer, Int, CInt, UnsafeMutablePointer<Int>) -> CInt
  let setSwitch: (OpaquePointer, CInt) -> CInt
  let setVolume: (OpaquePointer, Int) -> CInt

  init(_ side: StreamDirections) {
    let isCapture = side == .capture
    unsafe hasSwitch =
      isCapture ? snd_mixer_selem_has_capture_switch : snd_mixer_selem_has_playback_switch
    unsafe hasVolume =
      isCapture ? snd_mixer_selem_has_capture_volume : snd_mixer_selem_has_playback_volume
    unsafe getSwitch =
      isCapture ? snd_mixer_selem_get_capture_switch : snd_mixer_selem_get_playback_switch
    unsafe getVolume =
      isCapture ? snd_mixer_selem_get_capture_volume : snd_mixer_selem_get_playback_volume
    unsafe getRange =
      isCapture
      ? snd_mixer_selem_get_capture_volume_range : snd_mixer_selem_get_playback_volume_range
    unsafe askDecibels =
      isCapture ? snd_mixer_selem_ask_capture_dB_vol : snd_mixer_selem_ask_playback_dB_vol
    unsafe setSwitch =
      isCapture ? snd_mixer_selem_set_capture_switch_all : snd_mixer_selem_set_playback_switch_all
    unsafe setVolume =
      isCapture ? snd_mixer_selem_set_capture_volume_all : snd_mixer_selem_set_playback_volume_all
  }
}
