import CLibre

@testable import SIPSignalling

extension UserAgent {
  /// Port at which the agent listens by UDP or TCP; 0 if there is none.
  func port(of transport: SIPTransport) -> UInt16 {
    guard let stack = stacks.first else { return 0 }
    return unsafe re_transport_port(stack.sip, transport.inLibre, stack.host)
  }

  /// References to libre's stack: the agent's own, and one for each session that is not over.
  var stackHolders: UInt32 {
    guard let stack = stacks.first else { return 0 }
    return unsafe mem_nrefs(UnsafeRawPointer(stack.sip))
  }
}

extension UserAgent {
  /// Name of a call's dialog, by which the far side could have the call replaced; nil if unknown.
  func dialogName(of id: SIPCallID) -> DialogName? { calls[id.rawValue]?.name }
}
