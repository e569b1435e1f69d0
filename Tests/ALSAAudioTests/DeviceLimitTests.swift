import RealTime
import Testing
@testable import ALSAAudio

struct DeviceLimitTests {
  private func ask(
    _ name: String,
    milliseconds: Int,
    _ work: @escaping @Sendable () -> Result<Int, AudioDeviceError> = { .success(1) }
  ) throws(AudioDeviceError) -> Int {
    try DeviceLimit.perform("open", on: name, milliseconds: milliseconds, work)
  }

  @Test func errorOfTheDeviceIsPassedOn() {
    let error = AudioDeviceError(kind: .busy, device: "taken", operation: "open", reason: "why")
    #expect(throws: error) { try ask("taken", milliseconds: 60_000) { .failure(error) } }
    #expect(throws: Never.self) { try ask("taken", milliseconds: 60_000) }
  }

  @Test func deviceThatHangsIsNotAskedAgainUntilItAnswers() throws {
    let answer = try WakeEvent()
    let hung = #expect(throws: AudioDeviceError.self) {
      try ask("hung", milliseconds: 1) {
        answer.wait()
        return .success(1)
      }
    }
    #expect(hung?.kind == .unresponsive)
    let again = #expect(throws: AudioDeviceError.self) {
      try ask("hung", milliseconds: 60_000) {
        Issue.record("a device that hangs was asked once more")
        return .success(1)
      }
    }
    #expect(again == hung)
    #expect(try ask("another", milliseconds: 60_000) == 1)
    answer.signal()
    // Its thread ends at some time after that.
    while (try? ask("hung", milliseconds: 60_000)) == nil {}
  }
}
