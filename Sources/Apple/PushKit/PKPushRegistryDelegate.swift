/// Receives tokens and pushes, on the registry's queue.
///
/// A push is delivered once, by the first of these forms that the delegate has: with metadata and a
/// completion, with metadata and `async`, with a completion, and last `async` or without either.
@preconcurrency
public protocol PKPushRegistryDelegate: NSObjectProtocol {
  /// Tells the delegate that there is a new token.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didUpdate pushCredentials: PKPushCredentials,
    for type: PKPushType
  )
  /// Tells the delegate that a push arrived.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType,
    completion: @escaping @Sendable () -> Void
  )
  /// Tells the delegate that a push arrived; a method without completion and `async` fits as well.
  nonisolated(nonsending) func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType
  ) async
  /// Tells the delegate that a push for a call arrived, and whether it has to report one.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingVoIPPushWith payload: PKPushPayload,
    metadata: PKVoIPPushMetadata,
    completion: @escaping @Sendable () -> Void
  )
  /// Tells the delegate that a push for a call arrived, and whether it has to report one.
  nonisolated(nonsending) func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingVoIPPushWith payload: PKPushPayload,
    metadata: PKVoIPPushMetadata
  ) async
  /// Tells the delegate that the token is no longer valid.
  func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
  /// Leaves the push to another form.
  public func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType,
    completion: @escaping @Sendable () -> Void
  ) {
    registry.isUnanswered = true
  }

  /// Leaves the push to another form.
  nonisolated(nonsending) public func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType
  ) async {
    registry.isUnanswered = true
  }

  /// Leaves the push to another form.
  public func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingVoIPPushWith payload: PKPushPayload,
    metadata: PKVoIPPushMetadata,
    completion: @escaping @Sendable () -> Void
  ) {
    registry.isUnanswered = true
  }

  /// Leaves the push to another form.
  nonisolated(nonsending) public func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingVoIPPushWith payload: PKPushPayload,
    metadata: PKVoIPPushMetadata
  ) async {
    registry.isUnanswered = true
  }

  /// Does nothing.
  public func pushRegistry(
    _ registry: PKPushRegistry,
    didInvalidatePushTokenFor type: PKPushType
  ) {}
}
