import MediaTime

/// What a network does to packets on their way, as measured or as a specification gives it.
public struct NetworkConditions: Equatable, Sendable {
  /// What a user would call this network.
  public var name: String
  /// The one-way delay of the fastest packet, in nanoseconds.
  public var delayNanoseconds: Int64
  /// The mean of what is added to it, correlated from packet to packet (half of each is new, exponentially
  /// distributed), in nanoseconds.
  public var jitterNanoseconds: Int64
  /// The share of packets that is lost, 0 to 1.
  public var lossShare: Double
  /// The mean number of packets that are lost in a row, at least 1 (Gilbert's model: two states, all lost
  /// in the bad one).
  public var lossBurst: Double
  /// Mean time between two stalls, in nanoseconds; 0 for none.
  ///
  /// In a stall nothing arrives, after it everything at once, as when Wi-Fi scans or hands over.
  public var stallIntervalNanoseconds: Int64
  /// The longest stall; lengths lie evenly between a quarter of it and it.
  public var stallNanoseconds: Int64

  /// A network that only delays.
  public init(
    _ name: String,
    delayMilliseconds: Double,
    jitterMilliseconds: Double = 0,
    lossShare: Double = 0,
    lossBurst: Double = 1,
    stallIntervalSeconds: Double = 0,
    stallMilliseconds: Double = 0
  ) {
    self.name = name
    func nanoseconds(_ value: Double, unit: Double) -> Int64 {
      value.isFinite ? Int64(max(0, min(1e18, value * unit))) : 0
    }
    delayNanoseconds = nanoseconds(delayMilliseconds, unit: 1e6)
    jitterNanoseconds = nanoseconds(jitterMilliseconds, unit: 1e6)
    self.lossShare = lossShare
    self.lossBurst = lossBurst
    stallIntervalNanoseconds = nanoseconds(stallIntervalSeconds, unit: 1e9)
    stallNanoseconds = nanoseconds(stallMilliseconds, unit: 1e6)
  }

  /// A cable between two machines.
  public static let clean = NetworkConditions("clean", delayMilliseconds: 0.2)
  /// An office's network.
  public static let lan = NetworkConditions("lan", delayMilliseconds: 1, jitterMilliseconds: 0.5)
  /// A quiet wireless network and the way to a neighbouring city.
  public static let wifi = NetworkConditions(
    "wifi",
    delayMilliseconds: 15,
    jitterMilliseconds: 5,
    lossShare: 0.005
  )
  /// A wireless network whose radio scans: each ten seconds or so 100 to 400 ms pass without a packet.
  public static let wifiStalls = NetworkConditions(
    "wifi-stalls",
    delayMilliseconds: 15,
    jitterMilliseconds: 5,
    lossShare: 0.005,
    stallIntervalSeconds: 10,
    stallMilliseconds: 400
  )
  /// 5 % lost in bursts of 2.
  public static let lossy5 = NetworkConditions(
    "lossy-5",
    delayMilliseconds: 20,
    jitterMilliseconds: 2,
    lossShare: 0.05,
    lossBurst: 2
  )
  /// 10 % lost in bursts of 4.
  public static let lossy10 = NetworkConditions(
    "lossy-10",
    delayMilliseconds: 20,
    jitterMilliseconds: 2,
    lossShare: 0.1,
    lossBurst: 4
  )

  /// Every network that has a name.
  public static let all = [clean, lan, wifi, wifiStalls, lossy5, lossy10]
}
