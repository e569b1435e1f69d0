import CLibre

@testable import SIPSignalling

extension UserAgent {
  /// The port that it listens at by UDP or TCP, 0 if there is none.
  func port(of transport: SIPTransport) -> UInt16 {
    guard let stack = stacks.first else { return 0 }
    return unsafe re_transport_port(stack.sip, transport.inLibre, stack.host)
  }

  /// How many hold libre's stack: itself, and each session that is not over.
  var stackHolders: UInt32 {
    guard let stack = stacks.first else { return 0 }
    return unsafe mem_nrefs(UnsafeRawPointer(stack.sip))
  }
}

extension UserAgent {
  /// The name by which the far side of a call would have it replaced.
  func dialogName(of id: SIPCallID) -> DialogName? { calls[id.rawValue]?.name }
}
