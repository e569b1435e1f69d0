public import Foundation

/// Recordings of calls, which the far side is always notified of by a tone.
extension Phone {
  /// Records both sides of a call to a new stereo WAV file: this side on the left, the far side on
  /// the right, at 48 kHz.
  ///
  /// The far side hears a tone at once, and then each 15 s. A hold interrupts the recording, which
  /// ends with the call at the latest. In a conference the others are not recorded.
  ///
  /// Throws a `PhoneError` if the call is not connected, or if the file cannot be created or exists
  /// already.
  public func startRecording(_ uuid: UUID, to file: URL) throws {
    guard let leg = calls[uuid]?.leg, control[uuid]?.establishedAt != nil else {
      throw PhoneError.notConnected
    }
    guard calls[uuid]?.recording == nil else { return }
    calls[uuid]?.recording = try CallRecording(file) { [weak self] failed in
      Task { await self?.end(failed, of: uuid) }
    }
    leg.setRecording(true)
    continuation.yield(.recording(uuid, file: file.path))
  }

  /// Ends the recording of a call, if there is one.
  ///
  /// Returns once the file is closed.
  public func stopRecording(_ uuid: UUID) async {
    guard let recording = calls[uuid]?.recording else { return }
    await end(recording, of: uuid)?.value
  }

  /// Ends the recording of a call that is over, without waiting for the disk.
  func endRecording(_ uuid: UUID) {
    if let recording = calls[uuid]?.recording { end(recording, of: uuid) }
  }

  /// Waits until finished recordings are closed.
  func finishRecordings() async {
    for closing in closings.values { await closing.value }
  }

  // The call may have another recording by now.
  @discardableResult
  private func end(_ recording: CallRecording, of uuid: UUID) -> Task<Void, Never>? {
    guard calls[uuid]?.recording === recording else { return nil }
    calls[uuid]?.recording = nil
    if let leg = calls[uuid]?.leg {
      leg.setRecording(false)
      recording.append(leg.takeRecording())
    }
    let closing = Task {
      let failure = await recording.close()
      continuation.yield(.recordingEnded(uuid, file: recording.file.path, reason: failure))
      closings[recording.file] = nil
    }
    closings[recording.file] = closing
    return closing
  }

  /// Passes the newly recorded sound on to the files; to be called once a second.
  func saveRecordings() {
    for call in calls.values { call.recording?.append(call.leg.takeRecording()) }
  }
}
