import Foundation
import RealTime

extension AVAudioSession {
  /// Reason why a session call fails: a code in the domain `NSOSStatusErrorDomain`.
  ///
  /// The session throws `NSError`; compare its `code` with a raw value.
  public enum ErrorCode: Int, Sendable {
    /// No error.
    case none = 0
    /// The sound system failed.
    case mediaServicesFailed = 1_836_282_486
    /// The sound devices are in use.
    case isBusy = 560_030_580
    /// The category does not allow the operation.
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
    /// An argument is invalid.
    case badParam = -50
    /// A call has the devices.
    case insufficientPriority = 561_017_449
    /// There is no device.
    case resourceNotAvailable = 561_145_203
    /// Any other failure.
    case unspecified = 2_003_329_396
    /// The session no longer exists.
    case expiredSession = 561_210_739
    /// The session is not active.
    case sessionNotActive = 1_768_841_571

    /// Returns an `NSError` of this code with a description.
    func error(reason: String) -> NSError {
      NSError(
        domain: NSOSStatusErrorDomain,
        code: rawValue,
        userInfo: [NSLocalizedDescriptionKey: reason]
      )
    }

    /// Returns the `NSError` to throw when `cause` kept the devices from opening.
    ///
    /// An `AudioDeviceError` becomes its underlying error; any other error is returned as it is.
    static func error(for cause: any Error) -> NSError {
      guard let device = cause as? AudioDeviceError else { return cause as NSError }
      let code: ErrorCode =
        switch device.kind {
        case .notFound, .lost, .badFile: .resourceNotAvailable
        case .busy: .isBusy
        case .unresponsive: .mediaServicesFailed
        case .unsupportedFormat: .cannotStartRecording
        case .other: .unspecified
        }
      return NSError(
        domain: NSOSStatusErrorDomain,
        code: code.rawValue,
        userInfo: [NSLocalizedDescriptionKey: device.description, NSUnderlyingErrorKey: cause]
      )
    }
  }
}
