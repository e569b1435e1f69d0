public import Foundation
import Synchronization

/// Members of Apple's session since iOS 13, answered as by a machine without such hardware.
extension AVAudioSession {
  /// Kinds of rendering of spatial sound.
  public enum RenderingMode: Int, Sendable {
    /// Not known, or not at all.
    case notApplicable = 0
    /// One channel or two.
    case monoStereo = 1
    /// Several channels.
    case surround = 2
    /// For headphones.
    case spatialAudio = 3
    /// Dolby's, for headphones.
    case dolbyAudio = 4
    /// Dolby Atmos.
    case dolbyAtmos = 5
  }

  /// Other microphones are there; posted on a private thread.
  ///
  /// Differs from Apple's: `routeChangeNotification` alone is posted.
  public static let availableInputsChangeNotification = Notification.Name(
    "AVAudioSessionAvailableInputsChangeNotification"
  )
  /// The rendering mode is another one, which never happens here.
  public static let renderingModeChangeNotification = Notification.Name(
    "AVAudioSessionRenderingModeChangeNotification"
  )

  /// The rendering in use: `notApplicable` while the session is inactive, else one channel.
  public var renderingMode: RenderingMode { voiceEngine == nil ? .notApplicable : .monoStereo }

  /// The most channels that the microphone can give: 1, or 0 without one.
  public var maximumInputNumberOfChannels: Int { inputNumberOfChannels }
  /// The most channels that the loudspeaker can take: 1, or 0 without one.
  public var maximumOutputNumberOfChannels: Int { outputNumberOfChannels }

  /// One of several microphones of a port; not distinguished here.
  public var inputDataSource: AVAudioSessionDataSourceDescription? { nil }
  /// One of several loudspeakers of a port; not distinguished here.
  public var outputDataSource: AVAudioSessionDataSourceDescription? { nil }

  /// Chooses one of several microphones of a port; throws `badParam` for any: there are none.
  public func setInputDataSource(_ dataSource: AVAudioSessionDataSourceDescription?) throws {
    try refuse(dataSource)
  }

  /// Chooses one of several loudspeakers of a port; throws `badParam` for any: there are none.
  public func setOutputDataSource(_ dataSource: AVAudioSessionDataSourceDescription?) throws {
    try refuse(dataSource)
  }

  private func refuse(_ dataSource: AVAudioSessionDataSourceDescription?) throws {
    guard dataSource != nil else { return }
    throw ErrorCode.badParam.error(reason: "ports have no data sources here")
  }

  /// The wish of `setPrefersInterruptionOnRouteDisconnect`.
  public var prefersInterruptionOnRouteDisconnect: Bool {
    state.withLock { $0.prefersInterruptionOnRouteDisconnect }
  }

  /// Whether a lost headset should interrupt; it reads back, since a lost device is replaced.
  public func setPrefersInterruptionOnRouteDisconnect(_ isPreferred: Bool) throws {
    state.withLock { $0.prefersInterruptionOnRouteDisconnect = isPreferred }
  }

  /// The wish of `setPrefersEchoCancelledInput`.
  public var prefersEchoCancelledInput: Bool { state.withLock { $0.prefersEchoCancelledInput } }
  /// False: the loudspeaker and the microphone have no such mode of their own; `voiceChat` filters.
  public var isEchoCancelledInputAvailable: Bool { false }
  /// False, as it is not available.
  public var isEchoCancelledInputEnabled: Bool { false }

  /// Whether the device itself should cancel echo; it reads back.
  public func setPrefersEchoCancelledInput(_ isPreferred: Bool) throws {
    state.withLock { $0.prefersEchoCancelledInput = isPreferred }
  }

  /// Activates the session outside calls, as `setActive` does, without keeping the caller waiting.
  ///
  /// Throws what `setActive` throws; true once the session is active.
  @discardableResult
  public func activate(options: SetActiveOptions = []) async throws -> Bool {
    try await setActiveLater(true, options)
  }

  /// Deactivates the session outside calls in the same way.
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
