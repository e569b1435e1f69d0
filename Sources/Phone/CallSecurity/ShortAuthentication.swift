import CTLS

/// Agrees on the four words that two people compare (ZRTP's short authentication string, RFC 6189
/// sections 4.4.1.1 and 7).
///
/// An attacker who sits between the two has a handshake with either of them, and needs both to
/// show the same words. The words are a hash of the fingerprints, of the handshake's secret, and of
/// one random number from each side. As in ZRTP, one side commits to its number by a hash before it
/// learns the other's, and shows it after. So an attacker has to choose his number for one side
/// before he knows the words of the other, and has one guess: four words are 32 bits, a chance of
/// one in 4.3 thousand million for each call. He cannot try numbers until the words fit, which
/// without the commitment would take seconds.
///
/// | From | Message |
/// |---|---|
/// | the handshake's server | commitment: the hash of its number |
/// | its client | its number |
/// | the server | its number |
///
/// A client that has no commitment yet asks for it by an empty message (`question`).
///
/// A value without I/O.
struct ShortAuthentication {
  /// The values that both sides have to agree on.
  struct Context {
    let client: Fingerprint
    let server: Fingerprint
    let secret: [UInt8]
  }

  private enum Kind: UInt8 {
    case commitment = 1
    case clientNumber = 2
    case serverNumber = 3
  }

  /// An empty message, from a client that waits for the commitment.
  ///
  /// Servers of all releases ignore it, and repeat the last messages that they sent.
  static let question: [UInt8] = [0]

  private let isClient: Bool
  private let context: Context
  private let number: [UInt8]
  /// The far side's commitment, at the client.
  private var commitment: [UInt8]?
  /// The words; nil until both numbers are known.
  private(set) var words: [String]?
  /// True if the far side has sent another number than it has committed to.
  private(set) var isForged = false

  private static let numberLength = 16
  private static let wordCount = 4

  /// One side, with a random number of 16 bytes.
  init(isClient: Bool, _ context: Context, number: [UInt8]) {
    self.isClient = isClient
    self.context = context
    self.number = number
  }

  /// The message that begins the exchange; nil at the client, which waits for it.
  var opening: [UInt8]? {
    isClient ? nil : [Kind.commitment.rawValue] + Self.hash(number)
  }

  /// Handles a message, and returns the reply, if any.
  mutating func receive(_ message: [UInt8]) -> [UInt8]? {
    guard words == nil, let first = message.first, let kind = Kind(rawValue: first) else {
      return nil
    }
    let body = Array(message.dropFirst())
    switch kind {
    case .commitment:
      // The first one counts: a second one could be chosen after the client's number is known.
      guard isClient, commitment == nil, body.count == 32 else { return nil }
      commitment = body
      return [Kind.clientNumber.rawValue] + number
    case .clientNumber:
      guard !isClient, body.count == Self.numberLength else { return nil }
      words = words(client: body, server: number)
      return [Kind.serverNumber.rawValue] + number
    case .serverNumber:
      guard isClient, let commitment, body.count == Self.numberLength else { return nil }
      guard Self.hash(body) == commitment else {
        isForged = true
        return nil
      }
      words = words(client: number, server: body)
      return nil
    }
  }

  private func words(client: [UInt8], server: [UInt8]) -> [String] {
    let title = Array("sidetone words".utf8)
    let digest = Self.hash(
      title + context.client.bytes + context.server.bytes + context.secret + client + server
    )
    return WordList.words(for: digest.prefix(Self.wordCount))
  }

  private static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe sec_sha256(bytes, bytes.count, &digest)
    return digest
  }

  /// A number that cannot be guessed; nil if the system has no randomness.
  static func randomNumber() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: numberLength)
    return unsafe sec_random(&bytes, CInt(numberLength)) == 1 ? bytes : nil
  }
}
