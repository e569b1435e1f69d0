import SidetonePhone

/// Destination of a call: an address, or a phone of the local network.
enum Callee: Equatable {
  /// A SIP address, or with an account a name or number at its server.
  case address(String)
  /// A phone of the local network, which has to prove the identity that it announces.
  case neighbour(Neighbour)

  /// Address that is called.
  var address: String {
    switch self {
    case .address(let text): text
    case .neighbour(let neighbour): neighbour.uri
    }
  }
}

extension Phone {
  /// Calls an address, by an account if one is named or fits, or a neighbour.
  func call(_ callee: Callee, account: String?) async throws {
    switch callee {
    case .address(let text): try await call(text, account: account)
    case .neighbour(let neighbour): try await call(neighbour)
    }
  }
}
