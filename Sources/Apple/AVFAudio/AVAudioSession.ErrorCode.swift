import Foundation

extension AVAudioSession {
  /// Why a session call fails: codes in the domain `NSOSStatusErrorDomain`.
  ///
  /// The session throws `NSError`; compare its `code` with a raw value.
  public enum ErrorCode: Int, Sendable {
    /// No error.
    case none = 0
    /// The sound system failed.
    case mediaServicesFailed = 1_836_282_486
    /// Sound is in use.
    case isBusy = 560_030_580
    /// The category does not allow it.
    case incompatibleCategory = 560_161_140
    /// Others may not be interrupted now.
    case cannotInterruptOthers = 560_557_684
    /// The app lacks a permission.
    case missingEntitlement = 1_701_737_535
    /// The assistant is recording.
    case siriIsRecording = 1_936_290_409
    /// Playing is not allowed now.
    case cannotStartPlaying = 561_015_905
    /// The device cannot be opened for playing and recording.
    case cannotStartRecording = 561_145_187
    /// An argument makes no sense.
    case badParam = -50
    /// A call has the hardware.
    case insufficientPriority = 561_017_449
    /// There is no device.
    case resourceNotAvailable = 561_145_203
    /// Something else.
    case unspecified = 2_003_329_396
    /// The session has gone.
    case expiredSession = 561_210_739
    /// The session is not active.
    case sessionNotActive = 1_768_841_571

    /// The error as Foundation has it.
    func error(reason: String) -> NSError {
      NSError(
        domain: NSOSStatusErrorDomain,
        code: rawValue,
        userInfo: [NSLocalizedDescriptionKey: reason]
      )
    }
  }
}
