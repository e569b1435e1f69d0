import Testing

@testable import CallSecurity

struct ShortAuthenticationTests {
  private static func context(_ secret: UInt8 = 1) throws -> ShortAuthentication.Context {
    ShortAuthentication.Context(
      client: try #require(Fingerprint(bytes: [UInt8](repeating: 1, count: 32))),
      server: try #require(Fingerprint(bytes: [UInt8](repeating: 2, count: 32))),
      secret: [UInt8](repeating: secret, count: 32)
    )
  }

  private static func side(
    isClient: Bool,
    number: UInt8,
    secret: UInt8 = 1
  ) throws -> ShortAuthentication {
    ShortAuthentication(
      isClient: isClient,
      try context(secret),
      number: [UInt8](repeating: number, count: 16)
    )
  }

  @Test func bothSidesComeToTheSameWords() throws {
    var client = try Self.side(isClient: true, number: 3)
    var server = try Self.side(isClient: false, number: 4)
    #expect(client.opening == nil)
    let opening = try #require(server.opening)
    let number = client.receive(opening)
    #expect(client.words == nil)
    let answer = server.receive(try #require(number))
    let nothing = client.receive(try #require(answer))
    #expect(nothing == nil)
    #expect(client.words?.count == 4 && client.words == server.words)
  }

  /// The words depend on each part: numbers of both sides and the handshake's secret.
  @Test func eachPartCounts() throws {
    func words(_ client: UInt8, _ server: UInt8, _ secret: UInt8) throws -> [String]? {
      var client = try Self.side(isClient: true, number: client, secret: secret)
      var server = try Self.side(isClient: false, number: server, secret: secret)
      let answer = server.opening.flatMap { client.receive($0) }.flatMap { server.receive($0) }
      _ = answer.flatMap { client.receive($0) }
      return client.words
    }
    let found = [try words(1, 1, 1), try words(2, 1, 1), try words(1, 2, 1), try words(1, 1, 2)]
    #expect(Set(found.compactMap(\.self)).count == 4)
  }

  /// An attacker cannot choose his number after he knows the other's: the commitment binds it.
  @Test func anotherNumberThanCommittedIsForged() throws {
    var client = try Self.side(isClient: true, number: 3)
    let attacker = try Self.side(isClient: false, number: 4)
    var second = try Self.side(isClient: false, number: 5)
    let number = attacker.opening.flatMap { client.receive($0) }
    // Neither a second commitment nor another number helps.
    let secondNumber = second.opening.flatMap { client.receive($0) }
    #expect(secondNumber == nil)
    let other = second.receive(try #require(number))
    let nothing = client.receive(try #require(other))
    #expect(nothing == nil)
    #expect(client.isForged && client.words == nil)
  }

  @Test func nonsenseChangesNothing() throws {
    var client = try Self.side(isClient: true, number: 3)
    var server = try Self.side(isClient: false, number: 4)
    for message in [[], [0], [9, 9], [1], [2], [3], [3] + [UInt8](repeating: 0, count: 16)] {
      let answer = client.receive(message)
      #expect(answer == nil)
    }
    for message in [[], [1] + [UInt8](repeating: 0, count: 32), [2, 2], [3]] {
      let answer = server.receive(message)
      #expect(answer == nil)
    }
    #expect(!client.isForged && server.words == nil)
    let number = server.opening.flatMap { client.receive($0) }
    let answer = server.receive(try #require(number))
    #expect(answer != nil)
  }
}
