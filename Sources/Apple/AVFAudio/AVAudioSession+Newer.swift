public import Foundation
import Synchronization

/// Members for rendering, data sources, echo-cancelled input and asynchronous activation.
extension AVAudioSession {
  /// Rendering of the sound that is played.
  public enum RenderingMode: Int, Sendable {
    /// Not applicable: no sound is played.
    case notApplicable = 0
    /// Mono or stereo.
    case monoStereo = 1
    /// Several channels.
    case surround = 2
    /// Spatial Audio.
    case spatialAudio = 3
    /// Dolby Audio.
    case dolbyAudio = 4
    /// Dolby Atmos.
    case dolbyAtmos = 5
  }

  /// Posted when the available microphones changed.
  ///
  /// Differs from Apple's: it is never posted; `routeChangeNotification` alone is.
  public static let availableInputsChangeNotification = Notification.Name(
    "AVAudioSessionAvailableInputsChangeNotification"
  )
  /// Posted when the rendering mode changed, which never happens here.
  public static let renderingModeChangeNotification = Notification.Name(
    "AVAudioSessionRenderingModeChangeNotification"
  )

  /// Current rendering: one channel, or `notApplicable` while the session is inactive.
  public var renderingMode: RenderingMode { voiceEngine == nil ? .notApplicable : .monoStereo }

  /// Maximum number of microphone channels: 1, or 0 without a microphone.
  public var maximumInputNumberOfChannels: Int { inputNumberOfChannels }
  /// Maximum number of loudspeaker channels: 1, or 0 without a loudspeaker.
  public var maximumOutputNumberOfChannels: Int { outputNumberOfChannels }

  /// Selected data source of the input: nil, since a port's microphones are not distinguished.
  public var inputDataSource: AVAudioSessionDataSourceDescription? { nil }
  /// Selected data source of the output: nil, since a port's loudspeakers are not distinguished.
  public var outputDataSource: AVAudioSessionDataSourceDescription? { nil }

  /// Selects a data source of the input; throws `badParam` unless it is nil, as ports list none.
  public func setInputDataSource(_ dataSource: AVAudioSessionDataSourceDescription?) throws {
    try Self.refuse(dataSource)
  }

  /// Selects a data source of the output; throws `badParam` unless it is nil, as ports list none.
  public func setOutputDataSource(_ dataSource: AVAudioSessionDataSourceDescription?) throws {
    try Self.refuse(dataSource)
  }

  static func refuse(_ dataSource: AVAudioSessionDataSourceDescription?) throws {
    guard dataSource != nil else { return }
    throw ErrorCode.badParam.error(reason: "ports have no data sources here")
  }

  /// The value set by `setPrefersInterruptionOnRouteDisconnect`.
  public var prefersInterruptionOnRouteDisconnect: Bool {
    state.withLock { $0.prefersInterruptionOnRouteDisconnect }
  }

  /// Sets whether the loss of a headset should interrupt the session.
  ///
  /// Without effect, since a lost device is replaced.
  public func setPrefersInterruptionOnRouteDisconnect(_ isPreferred: Bool) throws {
    state.withLock { $0.prefersInterruptionOnRouteDisconnect = isPreferred }
  }

  /// The value set by `setPrefersEchoCancelledInput`.
  public var prefersEchoCancelledInput: Bool { state.withLock { $0.prefersEchoCancelledInput } }
  /// False: the devices have no echo cancellation of their own; `voiceChat` filters instead.
  public var isEchoCancelledInputAvailable: Bool { false }
  /// False, since echo-cancelled input is not available.
  public var isEchoCancelledInputEnabled: Bool { false }

  /// Sets whether the device itself should cancel echo; without effect.
  public func setPrefersEchoCancelledInput(_ isPreferred: Bool) throws {
    state.withLock { $0.prefersEchoCancelledInput = isPreferred }
  }

  /// Activates the session outside calls, as `setActive` does, without blocking the caller.
  ///
  /// Returns true once the session is active; throws the errors of `setActive`.
  @discardableResult
  public func activate(options: SetActiveOptions = []) async throws -> Bool {
    try await setActiveLater(true, options)
  }

  /// Deactivates the session outside calls, as `setActive` does, without blocking the caller.
  @discardableResult
  public func deactivate(options: SetActiveOptions = []) async throws -> Bool {
    try await setActiveLater(false, options)
  }

  private func setActiveLater(_ active: Bool, _ options: SetActiveOptions) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { [self] in
        continuation.resume(
          with: Result {
            try setActive(active, options: options)
            return true
          }
        )
      }
    }
  }
}
