import Foundation
import MeshLedger
import Synchronization

/// How many events arrive in a day of the benchmark's mesh.
private let eventsADay = 100_000

/// A ledger whose events arrived evenly over many days, with all views.
func makeHistory(_ file: String, _ folder: String, count: Int) async throws {
    let clock = Mutex(Timestamp(seconds: 1_780_000_000))
    var options = LedgerOptions()
    options.log.clock = { clock.withLock { $0 } }
    let ledger = try await Ledger.create(at: folder, options: options)
    try await ledger.keys.set(Keyring.standard.adding(try ChannelKey(name: "Harbour", psk: (0..<32).map { UInt8($0) })))
    let source = try await ledger.log.source(named: "bench")
    let packets = try PacketFile(file)
    let batch = 500
    var next = 0
    while next < count {
        let events = (next..<min(next + batch, count)).map { index in
            NewEvent(
                Array(packets.bytes[packets.ranges[index % packets.ranges.count]]), encoding: .serviceEnvelope, source: source)
        }
        _ = try await ledger.log.append(events)
        next += events.count
        clock.withLock {
            $0 = Timestamp(microseconds: $0.microseconds + Int64(events.count) * 86_400_000_000 / Int64(eventsADay))
        }
    }
    try await ledger.catchUp()
    let index = try await ledger.maintenance.views().first { $0.name == "packets" }
    print("{\"work\":\"make-history\",\"events\":\(count),\"index_bytes\":\(index?.size ?? 0)}")
    try await ledger.close()
}

/// Queries about the past of a ledger that `makeHistory` made: medians and the slowest, in milliseconds.
func askHistory(_ folder: String, rounds: Int) async throws {
    let ledger = try await Ledger.open(at: folder)
    try await ledger.catchUp()
    let nodes = try ledger.nodes().map(\.number)
    var random = SystemRandomNumberGenerator()
    let (head, day) = (ledger.log.head.rawValue, Int64(86_400_000_000))
    let first = try ledger.log.event(ledger.log.first)?.header.arrivalTime.microseconds ?? 0
    let days = max(1, Int64(head) / Int64(eventsADay))
    var rows = 0
    func node() -> UInt32 { nodes.randomElement(using: &random) ?? 0 }
    try tell("node-day", rounds) {
        let start = first + Int64.random(in: 0..<days, using: &random) * day
        rows += try ledger.events(of: node(), in: Timestamp(microseconds: start)..<Timestamp(microseconds: start + day)).count
    }
    try tell("node-day-sequences", rounds) {
        let start = UInt64.random(in: 1...max(1, head - min(head - 1, UInt64(eventsADay))), using: &random)
        let range = EventSequence(start)...EventSequence(min(head, start + UInt64(eventsADay)))
        rows += try ledger.sequences(of: EventSelection(node: node()), in: range).count
    }
    try tell("node-history-sequences", max(3, rounds / 10)) {
        rows += try ledger.sequences(of: EventSelection(node: node())).count
    }
    var packets = try (0..<max(3, rounds / 10)).flatMap { _ in
        let start = UInt64.random(in: 1...max(1, head - min(head - 1, 2_000)), using: &random)
        return try ledger.packets(in: EventSequence(start)...EventSequence(min(head, start + 2_000)), limit: 1)
    }
    try tell("packet-receptions", packets.count) {
        if let packet = packets.popLast() { rows += try ledger.receptions(of: packet.id, from: packet.from).count }
    }
    try tell("track-then", rounds) {
        let then = try ledger.asOf(.sequence(UInt64.random(in: 1...head, using: &random)))
        rows += try then.positions(of: node()).count
    }
    // The view no longer has their rows of that time.
    let cap = ViewCaps().positions
    let busy = try nodes.filter { try ledger.positions(of: $0, RowQuery(limit: cap)).count == cap }
    if !busy.isEmpty {
        try tell("track-then-over-cap", max(3, rounds / 10)) {
            let then = try ledger.asOf(.sequence(UInt64.random(in: 1...head, using: &random)))
            rows += try then.positions(of: busy.randomElement(using: &random) ?? 0).count
        }
    }
    try await tellNodes("node-table-then-first", ledger, [head - head / 20])
    try await tellNodes(
        "node-table-then", ledger, (0..<max(3, rounds / 40)).map { _ in UInt64.random(in: 1...head, using: &random) })
    print("{\"work\":\"rows\",\"count\":\(rows)}")
    try await ledger.close()
}

private func tellNodes(_ work: String, _ ledger: Ledger, _ sequences: [UInt64]) async throws {
    var times: [Double] = []
    for sequence in sequences {
        let begun = secondsNow()
        let then = try ledger.asOf(.sequence(sequence))
        _ = try then.nodes().count
        times.append(secondsNow() - begun)
        try await then.close()
    }
    tell(work, times)
}

private func tell(_ work: String, _ rounds: Int, _ body: () throws -> Void) throws {
    var times: [Double] = []
    for _ in 0..<rounds {
        let begun = secondsNow()
        try body()
        times.append(secondsNow() - begun)
    }
    tell(work, times)
}

private func tell(_ work: String, _ times: [Double]) {
    let sorted = times.sorted()
    let figures = [0.5, 0.95, 1].map { share in
        String(format: "%.3f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] * 1_000)
    }
    print(
        "{\"work\":\"\(work)\",\"rounds\":\(times.count),\"median_ms\":\(figures[0]),\"p95_ms\":\(figures[1]),"
            + "\"slowest_ms\":\(figures[2])}")
}
