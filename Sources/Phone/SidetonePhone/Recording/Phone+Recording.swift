public import Foundation

/// Recordings, which the far side always hears of.
extension Phone {
  /// Records both sides of a call to a new stereo WAV file: this side on the left, the far side on
  /// the right, at 48 kHz.
  ///
  /// The far side hears a tone at once, and then each 15 s. A hold interrupts the recording, which
  /// ends with the call at the latest. In a conference the others are not recorded.
  ///
  /// Throws a `PhoneError` if the call is not connected, or the file cannot be made or is there
  /// already.
  public func startRecording(_ uuid: UUID, to file: URL) throws {
    guard let leg = legs[uuid], control[uuid]?.establishedAt != nil else {
      throw PhoneError("there is no connected call to record")
    }
    guard recordings[uuid] == nil else { return }
    recordings[uuid] = try CallRecording(file) { [weak self] reason in
      Task { await self?.endRecording(uuid, because: reason) }
    }
    leg.setRecording(true)
    continuation.yield(.recording(uuid, file: file.path))
  }

  /// Ends the recording of a call, if there is one.
  public func stopRecording(_ uuid: UUID) {
    endRecording(uuid, because: nil)
  }

  func endRecording(_ uuid: UUID, because reason: String?) {
    guard let recording = recordings.removeValue(forKey: uuid) else { return }
    if let leg = legs[uuid] {
      leg.setRecording(false)
      recording.append(leg.takeRecording())
    }
    recording.close()
    continuation.yield(.recordingEnded(uuid, file: recording.file.path, reason: reason))
  }

  /// Passes on what was recorded since the last time: to be called once a second.
  func saveRecordings() {
    for (uuid, recording) in recordings {
      if let leg = legs[uuid] { recording.append(leg.takeRecording()) }
    }
  }
}
