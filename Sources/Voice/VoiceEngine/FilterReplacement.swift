import RealTime
import SpeechDSP

/// Filters to take the place of the current ones, and afterwards those that were replaced.
///
/// **Thread safety:** made and released by the engine's owner; between the command and `done` it
/// belongs to the voice thread.
// SAFETY: one owner at a time, as said above; the command and `done` order the two threads.
final class FilterReplacement: @unchecked Sendable {
  /// Event that is signalled once the filters are exchanged.
  let done: WakeEvent
  /// True if the filters need the sound that the loudspeaker played.
  let needsReference: Bool
  var filter: SpeechFilter?

  /// Makes the filters.
  init(_ settings: SpeechFilterSettings) throws {
    done = try WakeEvent()
    needsReference = settings.echoCancellation
    filter = try CaptureChain.filter(settings)
  }
}
