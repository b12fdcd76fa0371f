/// The kind of mesh to simulate. The same options give the same bytes on every machine.
///
/// A simulation takes the nearest number within its limits for one outside. Its clock has 32 bits, and starts again in 2106.
public struct SimulationOptions: Sendable, Equatable {
    public var seed: UInt64
    /// How many nodes there are, from 2 to 100,000.
    public var nodes: Int
    /// How many of them publish the packets that they hear, from 1 to all.
    public var gateways: Int
    /// Seconds since 1970 of the first packet.
    public var startTime: UInt32
    /// Milliseconds between packets, on average.
    public var intervalMilliseconds: UInt32
    /// Of 1,000 receptions, how many are damaged, wrong or odd.
    public var badPerMille: UInt32
    /// Of 100 packets, how many are encrypted.
    public var encryptedPercent: UInt32

    private static let mostNodes = 100_000

    /// Each number within its limits, also if it was set after `init`.
    var bounded: SimulationOptions {
        SimulationOptions(
            seed: seed, nodes: nodes, gateways: gateways, startTime: startTime, intervalMilliseconds: intervalMilliseconds,
            badPerMille: badPerMille, encryptedPercent: encryptedPercent)
    }

    public init(
        seed: UInt64 = 1, nodes: Int = 200, gateways: Int? = nil, startTime: UInt32 = 1_780_000_000,
        intervalMilliseconds: UInt32 = 2_600, badPerMille: UInt32 = 10, encryptedPercent: UInt32 = 72
    ) {
        self.seed = seed
        self.nodes = min(max(2, nodes), Self.mostNodes)
        self.gateways = max(1, min(gateways ?? max(3, self.nodes / 25), self.nodes))
        self.startTime = startTime
        self.intervalMilliseconds = max(1, intervalMilliseconds)
        self.badPerMille = min(badPerMille, 1_000)
        self.encryptedPercent = min(encryptedPercent, 100)
    }
}

/// SplitMix64 on whole numbers only, so that a seed gives the same traffic everywhere.
struct SimulationRandom: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: UInt32) -> UInt32 {
        limit == 0 ? 0 : UInt32(truncatingIfNeeded: ((next() >> 32) &* UInt64(limit)) >> 32)
    }

    mutating func between(_ least: Int32, _ most: Int32) -> Int32 {
        least &+ Int32(bitPattern: below(UInt32(bitPattern: most &- least) &+ 1))
    }

    mutating func chance(_ percent: UInt32) -> Bool { below(100) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(below(UInt32(elements.count)))]
    }
}
