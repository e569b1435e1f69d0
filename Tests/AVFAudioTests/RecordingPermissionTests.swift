import AVFoundation
import Testing

/// The permission to record, in the words of apps that ask for it before a call.
struct RecordingPermissionTests {
  @Test(.timeLimit(.minutes(10))) func everyProgramMayRecord() async {
    #expect(AVCaptureDevice.authorizationStatus(for: .audio) == .authorized)
    #expect(await AVCaptureDevice.requestAccess(for: .audio))
    let isGranted = await withCheckedContinuation { continuation in
      AVCaptureDevice.requestAccess(for: AVMediaType.audio) { continuation.resume(returning: $0) }
    }
    #expect(isGranted)
  }
}
