import MediaCore

/// Conditions of a network that packets pass, as measured or as a specification gives them.
package struct NetworkConditions: Equatable, Sendable {
  /// Name of the network, as a user would call it.
  package var name: String
  /// The one-way delay of the fastest packet, in nanoseconds.
  package var delayNanoseconds: Int64
  /// Mean of the jitter added to the delay, in nanoseconds.
  ///
  /// Jitter is correlated from packet to packet: half of each value is new, exponentially
  /// distributed.
  package var jitterNanoseconds: Int64
  /// Share of packets that are lost, 0 to 1.
  package var lossShare: Double
  /// Mean number of packets that are lost in a row, at least 1.
  ///
  /// It is Gilbert's model: two states, with all packets lost in the bad one.
  package var lossBurst: Double
  /// Mean time between two stalls, in nanoseconds; 0 for none.
  ///
  /// In a stall no packet arrives, after it all at once, as when Wi-Fi scans or hands over.
  package var stallIntervalNanoseconds: Int64
  /// Longest stall, in nanoseconds; lengths are distributed evenly from a quarter of it up to it.
  package var stallNanoseconds: Int64

  /// Share of packets that arrive a second time, 0 to 1, a little after the first.
  package var duplicateShare = 0.0
  /// Share of packets that a later one may overtake, 0 to 1: they take `reorderNanoseconds` longer.
  package var reorderShare = 0.0
  /// Additional delay of a packet that is overtaken, in nanoseconds.
  package var reorderNanoseconds: Int64 = 10_000_000
  /// Bits per second that the narrowest link carries, 0 without a limit.
  package var linkBitsPerSecond = 0
  /// Longest wait of a packet for that link, in nanoseconds; one that would wait longer is lost.
  package var queueNanoseconds: Int64 = 200_000_000
  /// Spikes of the delay; nil for none.
  package var spikes: Spikes?
  /// Changes of the path; their delays add up.
  package var routeChanges: [RouteChange] = []
  /// Times in which no packet passes.
  package var outages: [Outage] = []

  /// Times in which every packet is delayed by the same amount, as when a queue fills or routes
  /// flap.
  package struct Spikes: Equatable, Sendable {
    /// Mean time from one spike to the next, in nanoseconds; uniformly distributed from 0.5 to 1.5
    /// times this.
    package let intervalNanoseconds: Int64
    /// Delay added by the lowest and the highest spike, in nanoseconds; evenly distributed between.
    package let heightNanoseconds: ClosedRange<Int64>
    /// Duration of a spike, in nanoseconds.
    package let nanoseconds: Int64

    /// Creates spikes that come about every so many seconds.
    package init(
      intervalSeconds: Double,
      heightMilliseconds: ClosedRange<Double>,
      milliseconds: Double
    ) {
      func time(_ value: Double, unit: Double) -> Int64 {
        max(0, NetworkConditions.nanoseconds(value, unit: unit))
      }
      // A spike begins after the one before it has ended.
      nanoseconds = time(milliseconds, unit: 1e6)
      intervalNanoseconds = max(1_000_000, 2 * nanoseconds, time(intervalSeconds, unit: 1e9))
      let low = time(heightMilliseconds.lowerBound, unit: 1e6)
      heightNanoseconds = low...max(low, time(heightMilliseconds.upperBound, unit: 1e6))
    }
  }

  /// A change of the path at a moment, for good.
  package struct RouteChange: Equatable, Sendable {
    /// Time of the change, in nanoseconds since the first packet.
    package var at: Int64
    /// Delay added from then on, in nanoseconds; negative for a faster path.
    package var delayNanoseconds: Int64

    /// Creates a change to a path that is `milliseconds` slower, from `second` on.
    package init(second: Double, milliseconds: Double) {
      at = NetworkConditions.nanoseconds(second, unit: 1e9)
      delayNanoseconds = NetworkConditions.nanoseconds(milliseconds, unit: 1e6)
    }
  }

  /// A time in which no packet passes.
  package struct Outage: Equatable, Sendable {
    /// Beginning of the outage, in nanoseconds since the first packet.
    package var at: Int64
    /// Duration of the outage, in nanoseconds.
    package var nanoseconds: Int64

    /// Creates an outage of `milliseconds` from `second` on.
    package init(second: Double, milliseconds: Double) {
      at = NetworkConditions.nanoseconds(second, unit: 1e9)
      nanoseconds = NetworkConditions.nanoseconds(milliseconds, unit: 1e6)
    }
  }

  // Eleven days are as good as for ever, and no sum of them leaves 64 bits.
  private static let longest: Int64 = 1_000_000_000_000_000

  private static func nanoseconds(_ value: Double, unit: Double) -> Int64 {
    let limit = Double(longest)
    return value.isNaN ? 0 : Int64(max(-limit, min(limit, value * unit)))
  }

  /// The conditions with times limited to eleven days, so that no sum of them overflows, and
  /// negative delays only for changes of the path.
  var bounded: NetworkConditions {
    func within(_ nanoseconds: Int64, from least: Int64 = 0) -> Int64 {
      max(least, min(Self.longest, nanoseconds))
    }
    var bounded = self
    bounded.delayNanoseconds = within(delayNanoseconds)
    bounded.jitterNanoseconds = within(jitterNanoseconds)
    bounded.stallIntervalNanoseconds = within(stallIntervalNanoseconds)
    bounded.stallNanoseconds = within(stallNanoseconds)
    bounded.reorderNanoseconds = within(reorderNanoseconds)
    bounded.queueNanoseconds = within(queueNanoseconds)
    for index in routeChanges.indices {
      bounded.routeChanges[index].at = within(routeChanges[index].at, from: -Self.longest)
      let delay = routeChanges[index].delayNanoseconds
      bounded.routeChanges[index].delayNanoseconds = within(delay, from: -Self.longest)
    }
    for index in outages.indices {
      bounded.outages[index].at = within(outages[index].at, from: -Self.longest)
    }
    return bounded
  }

  /// Creates conditions with the given delay, and without the other defects by default.
  package init(
    _ name: String,
    delayMilliseconds: Double,
    jitterMilliseconds: Double = 0,
    lossShare: Double = 0,
    lossBurst: Double = 1,
    stallIntervalSeconds: Double = 0,
    stallMilliseconds: Double = 0
  ) {
    self.name = name
    delayNanoseconds = max(0, Self.nanoseconds(delayMilliseconds, unit: 1e6))
    jitterNanoseconds = max(0, Self.nanoseconds(jitterMilliseconds, unit: 1e6))
    self.lossShare = lossShare
    self.lossBurst = lossBurst
    stallIntervalNanoseconds = max(0, Self.nanoseconds(stallIntervalSeconds, unit: 1e9))
    stallNanoseconds = max(0, Self.nanoseconds(stallMilliseconds, unit: 1e6))
  }

  /// A cable between two machines.
  package static let clean = NetworkConditions("clean", delayMilliseconds: 0.2)
  /// An office's network.
  package static let lan = NetworkConditions("lan", delayMilliseconds: 1, jitterMilliseconds: 0.5)
  /// A quiet wireless network and the path to a neighbouring city.
  package static let wifi = NetworkConditions(
    "wifi",
    delayMilliseconds: 15,
    jitterMilliseconds: 5,
    lossShare: 0.005
  )
  /// A wireless network whose radio scans: each ten seconds or so 100 to 400 ms pass without a
  /// packet.
  package static let wifiStalls = NetworkConditions(
    "wifi-stalls",
    delayMilliseconds: 15,
    jitterMilliseconds: 5,
    lossShare: 0.005,
    stallIntervalSeconds: 10,
    stallMilliseconds: 400
  )
  /// A network that loses 5 % of the packets, in bursts of 2.
  package static let lossy5 = NetworkConditions(
    "lossy-5",
    delayMilliseconds: 20,
    jitterMilliseconds: 2,
    lossShare: 0.05,
    lossBurst: 2
  )
  /// A network that loses 10 % of the packets, in bursts of 4.
  package static let lossy10 = NetworkConditions(
    "lossy-10",
    delayMilliseconds: 20,
    jitterMilliseconds: 2,
    lossShare: 0.1,
    lossBurst: 4
  )

  /// A telephone in a moving car: each few seconds the queue of the radio builds up.
  package static let mobile = NetworkConditions(
    "mobile",
    delayMilliseconds: 40,
    jitterMilliseconds: 8,
    lossShare: 0.01,
    lossBurst: 2,
    stallIntervalSeconds: 4,
    stallMilliseconds: 160
  )
  /// A crowded wireless network on an intercontinental path: 100 ms of delay, jitter, 10 % loss in
  /// bursts, stalls, duplicates and reordering.
  package static let awful: NetworkConditions = {
    var conditions = NetworkConditions(
      "awful",
      delayMilliseconds: 100,
      jitterMilliseconds: 25,
      lossShare: 0.1,
      lossBurst: 4,
      stallIntervalSeconds: 15,
      stallMilliseconds: 400
    )
    conditions.duplicateShare = 0.02
    conditions.reorderShare = 0.05
    conditions.reorderNanoseconds = 40_000_000
    return conditions
  }()
  /// A path whose delay jumps by 150 ms for 200 ms each five seconds or so, as where routes flap.
  package static let spikes: NetworkConditions = {
    var conditions = NetworkConditions(
      "spikes",
      delayMilliseconds: 60,
      jitterMilliseconds: 20,
      lossShare: 0.01
    )
    conditions.spikes = Spikes(
      intervalSeconds: 5,
      heightMilliseconds: 150...150,
      milliseconds: 200
    )
    return conditions
  }()
  /// An access link whose queue fills every few seconds: for 300 ms packets take 60 to 400 ms
  /// longer.
  package static let fullQueue: NetworkConditions = {
    var conditions = NetworkConditions(
      "full-queue",
      delayMilliseconds: 30,
      jitterMilliseconds: 5,
      lossShare: 0.005
    )
    conditions.spikes = Spikes(
      intervalSeconds: 4,
      heightMilliseconds: 60...400,
      milliseconds: 300
    )
    return conditions
  }()
  /// A path that becomes 200 ms slower after twenty seconds, for good.
  package static let routeChange: NetworkConditions = {
    var conditions = NetworkConditions("route-change", delayMilliseconds: 20, jitterMilliseconds: 2)
    conditions.routeChanges = [RouteChange(second: 20, milliseconds: 200)]
    return conditions
  }()

  /// All networks that have a name.
  package static let all = [
    clean, lan, wifi, wifiStalls, lossy5, lossy10, mobile, awful, routeChange, spikes, fullQueue,
  ]
}
