import CallState
public import Foundation

/// An action on one call.
open class CXCallAction: CXAction {
  private let call: UUID

  /// Creates an action on the given call.
  public init(call callUUID: UUID) {
    call = callUUID
    super.init()
  }

  /// Creates an action from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    guard let call = coder.decodeUUID(forKey: "callUUID") else { return nil }
    self.call = call
    super.init(coder: coder)
  }

  /// Identity of the call.
  open var callUUID: UUID { call }

  /// Archives the action's identity and properties.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(call, forKey: "callUUID")
  }

  override func duplicate() -> CXAction { CXCallAction(call: call) }

  /// Kind of the action; `unsupported` unless a subclass overrides it.
  var kind: ActionKind { .unsupported }

  override var request: ActionRequest { ActionRequest(call: CallID(callUUID), kind: kind) }

  override var timeoutInterval: TimeInterval { kind.timeout / .seconds(1) }
}
