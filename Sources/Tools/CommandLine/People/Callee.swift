import SidetonePhone

/// Whom a session calls.
enum Callee: Equatable {
  /// A SIP address, or with an account a name or number at its server.
  case address(String)
  /// A phone of the local network, which has to show the identity that it announces.
  case neighbour(Neighbour)

  /// What is called.
  var address: String {
    switch self {
    case .address(let text): text
    case .neighbour(let neighbour): neighbour.uri
    }
  }
}

extension Phone {
  /// Calls somebody, by an account if that is named or fits.
  func call(_ callee: Callee, account: String?) async throws {
    switch callee {
    case .address(let text): try await call(text, account: account)
    case .neighbour(let neighbour): try await call(neighbour)
    }
  }
}
