import Meshtastic

/// One node of the simulated mesh and where it is now.
struct SimulatedNode: Sendable {
    var number: UInt32
    var longName: String
    var shortName: String
    var hardware: UInt32
    var role: UInt32
    var publicKey: [UInt8]
    /// Index into the simulation's channels.
    var channel: Int
    var latitude: Int32
    var longitude: Int32
    var altitude: Int32
    var heading: Int32
    var isMoving: Bool
    var hasSensors: Bool
    /// Runs on a computer, not on a microcontroller.
    var isHost: Bool
    var hops: UInt8
    var precision: UInt32
    var battery: UInt32
    var uptime: UInt32
    var packetCount: UInt32 = 0

    private static let places = ["Hill", "Lake", "Base", "Roof", "Solar", "Rover", "Tower", "Home", "Barn", "Dock"]
    private static let marks = ["", "", "", "", " 🗼", " ☀️", " 🐟", " é"]
    private static let syllables = ["ka", "ri", "mo", "ten", "la", "su", "vel", "no", "bi", "dra", "us", "em"]

    init(_ random: inout SimulationRandom, index: Int) {
        number = UInt32(truncatingIfNeeded: random.next()) & 0x7fff_ff00 | 0x1000_0000 | UInt32(index & 0xff)
        let word = (0..<Int(2 + random.below(2))).map { _ in random.pick(Self.syllables) }.joined()
        longName = "\(random.pick(Self.places)) \(word)\(random.pick(Self.marks))"
        shortName = String(String(number, radix: 16).suffix(4))
        hardware = random.pick([9, 10, 31, 43, 44, 50, 71, 95])
        role = random.pick([0, 0, 0, 0, 2, 5, 6, 11])
        publicKey = (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        channel = random.chance(70) ? 0 : Int(1 + random.below(3))
        latitude = random.between(450_000_000, 490_000_000)
        longitude = random.between(60_000_000, 150_000_000)
        altitude = random.between(100, 1_900)
        heading = random.between(0, 359)
        isMoving = random.chance(25)
        hasSensors = random.chance(30)
        isHost = random.chance(10)
        hops = random.chance(70) ? 3 : UInt8(4 + random.below(4))
        precision = random.pick([32, 32, 16, 14, 13])
        battery = 40 + random.below(62)
        uptime = random.below(500_000)
    }

    var user: User {
        var user = User()
        user.id = NodeID.text(number)
        user.longName = longName
        user.shortName = shortName
        user.hardwareModel = hardware
        user.role = role
        user.publicKey = publicKey
        return user
    }

    /// A step in whole units of 1e-7 degrees; a walker keeps its direction for a while.
    mutating func move(_ random: inout SimulationRandom) {
        guard isMoving else { return }
        if random.chance(20) { heading = random.between(0, 359) }
        let north: Int32 = heading < 90 || heading > 270 ? 1 : -1
        let east: Int32 = heading < 180 ? 1 : -1
        latitude = max(-899_000_000, min(899_000_000, latitude + north * random.between(0, 9_000)))
        longitude = max(-1_799_000_000, min(1_799_000_000, longitude + east * random.between(0, 9_000)))
        altitude = max(0, min(4_000, altitude + random.between(-5, 5)))
    }
}
