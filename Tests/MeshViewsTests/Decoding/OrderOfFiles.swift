import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// A recording in several files, imported in any order: the same rows, sequences aside.
struct OrderOfFiles {
    private typealias Packet = MeshPacketBuilder

    private static let start: UInt32 = 1_780_000_000

    /// Receptions of random packets, no two at the same time, each packet within some minutes.
    private func recording(_ random: inout SeededGenerator) -> [Packet] {
        var times = Array(Set((0..<600).map { _ in UInt32.random(in: 0..<400_000, using: &random) })).shuffled(using: &random)
        var receptions: [Packet] = []
        for number in UInt32(1)...90 {
            let node = 1_001 + UInt32.random(in: 0..<6, using: &random)
            var packet = Packet(from: node, id: 10_000 + number)
            (packet.port, packet.payload) = content(number, of: node, &random)
            (packet.hopStart, packet.hopLimit) = (3, UInt32.random(in: 0...3, using: &random))
            let first = times.removeLast()
            var heard: Set<UInt32> = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let time = Self.start + first + UInt32.random(in: 0..<900, using: &random)
                guard heard.insert(time).inserted, !receptions.contains(where: { $0.rxTime == time }) else { continue }
                var reception = packet
                reception.rxTime = time
                reception.gateway = ["!00000a01", "!00000a02", "!00000a03", "!000003e9"].randomElement(using: &random) ?? ""
                reception.snr = Float(Int.random(in: -80...40, using: &random)) / 4
                receptions.append(reception)
            }
        }
        for number in UInt32(0)..<12 {
            let ends = (1_001 + number % 6, 1_001 + (number + 1 + number / 6) % 6)
            guard let first = times.popLast() else { break }
            let routes = [[], [1_009], [1_009, 1_010]] as [[UInt32]]
            let answer = UInt32.random(in: 5..<700, using: &random)
            for (index, gateway) in ["!00000a01", "!00000a02"].enumerated() {
                let later = UInt32(index) * 40
                var asked = Packet(from: ends.0, to: ends.1, id: 20_000 + number, rxTime: Self.start + first + later)
                (asked.port, asked.gateway) = (Port.traceroute, gateway)
                let way = routes[Int.random(in: 0..<3, using: &random)]
                asked.payload = Packet.route(way, way.map { _ in 12 })
                var answered = Packet(from: ends.1, to: ends.0, id: 30_000 + number, rxTime: asked.rxTime + answer)
                (answered.port, answered.gateway, answered.requestID) = (Port.traceroute, gateway, asked.id)
                answered.payload = Packet.route([1_009], [8, 4], back: way, way.map { _ in -8 } + [20])
                for packet in number.isMultiple(of: 5) ? [asked] : [asked, answered]
                where !receptions.contains(where: { $0.rxTime == packet.rxTime }) {
                    receptions.append(packet)
                }
            }
        }
        // The same id with other content: both are packets.
        if let some = receptions.first(where: { $0.port == Port.text }) {
            var forged = some
            forged.payload = Array("forged".utf8)
            forged.rxTime += 1
            receptions.append(forged)
        }
        return receptions
    }

    private func content(_ number: UInt32, of node: UInt32, _ random: inout SeededGenerator) -> (UInt32, [UInt8]) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return (Port.text, Array("text \(number)".utf8))
        case 1: return (Port.position, Packet.position(Int32(number) * 1_000_000, 7))
        case 2, 3:
            let key = [UInt8](repeating: UInt8(number), count: Bool.random(using: &random) ? 32 : 0)
            return (
                Port.nodeInfo, Packet.user(Bool.random(using: &random) ? "name \(number)" : "", key: key, hardware: number % 3)
            )
        case 4:
            var writer = WireWriter()
            writer.message(2) { $0.varint(1, UInt64(number)) }
            return (Port.telemetry, writer.bytes)
        case 5: return (Port.mapReport, Packet.mapReport("map \(number)"))
        case 6: return (Port.waypoint, Packet.waypoint(5, "place \(number)", expire: number.isMultiple(of: 4) ? 1 : 0))
        case 7: return (10, Array("door \(number)".utf8))
        default: return (Port.neighborInfo, Packet.neighbors(of: node, [(1_001, 3), (1_005, -2.5)]))
        }
    }

    /// Receptions of the same packets, and of some that nobody else heard, by gateways without a clock: nobody knows when. None of packets in conflict, which
    /// only known times can show.
    private func withoutClock(_ all: [Packet], _ random: inout SeededGenerator) -> [Packet] {
        var found: [Packet] = []
        for packet in all where packet.port != Port.traceroute && Int.random(in: 0..<3, using: &random) == 0 {
            if all.contains(where: { ($0.from, $0.id) == (packet.from, packet.id) && $0.payload != packet.payload }) { continue }
            var unknown = packet
            (unknown.rxTime, unknown.gateway, unknown.snr) = (
                0, ["!00000a04", "!00000a05"].randomElement(using: &random) ?? "", 1
            )
            (unknown.hopStart, unknown.hopLimit) = (3, 3)
            if found.contains(where: { $0.from == unknown.from && $0.id == unknown.id && $0.gateway == unknown.gateway }) {
                continue
            }
            found.append(unknown)
        }
        for node in UInt32(1_001)...1_012 {
            var report = Packet(from: node, id: 40_000 + node, rxTime: 0)
            (report.port, report.payload, report.gateway) = (Port.mapReport, Packet.mapReport("unclocked \(node)"), "!00000a04")
            var text = Packet(from: node, id: 50_000 + node, rxTime: 0, payload: Array("unclocked \(node)".utf8))
            text.gateway = "!00000a05"
            found += [report, text]
        }
        return found
    }

    private func ledger(_ files: [[Packet]]) async throws -> Ledger {
        let clock = Timestamp(seconds: Int64(Self.start) + 10_000_000)
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(clock: { clock })))
        for (index, file) in files.enumerated() {
            let source = try await ledger.log.source(named: "file \(index)")
            for run in stride(from: 0, to: file.count, by: 37) {
                _ = try await ledger.log.append(file[run..<min(run + 37, file.count)].map { $0.event(source) })
                try await ledger.catchUp()
            }
        }
        return ledger
    }

    private func rows(_ files: [[Packet]]) async throws -> [String] {
        let ledger = try await ledger(files)
        let found = try Self.rows(of: ledger)
        try await ledger.close()
        return found
    }

    /// Some files are cut by time, as recordings are, others overlap.
    private func files(of all: [Packet], _ random: inout SeededGenerator) -> [[Packet]] {
        var files: [[Packet]] = [[], [], []]
        let isCut = Bool.random(using: &random)
        for (index, packet) in all.enumerated() {
            files[isCut ? index * 3 / all.count : Int.random(in: 0..<3, using: &random)].append(packet)
        }
        return files.shuffled(using: &random)
    }

    /// What a person sees, without what says in which order it came.
    private static func rows(of ledger: Ledger) throws -> [String] {
        var lines: [String] = []
        func add<Row>(_ rows: [Row], _ change: (inout Row) -> Void) {
            for row in rows {
                var row = row
                change(&row)
                lines.append("\(row)")
            }
        }
        add(try ledger.nodes()) { ($0.firstSequence, $0.lastSequence) = (0, 0) }
        add(try ledger.positions(of: nil)) { $0.sequence = 0 }
        add(try ledger.telemetry(of: nil)) { $0.sequence = 0 }
        add(try ledger.messages()) { ($0.sequence, $0.firstSequence) = (0, 0) }
        add(try ledger.sensors()) { $0.sequence = 0 }
        add(try ledger.waypoints()) { ($0.sequence, $0.firstSequence) = (0, 0) }
        add(try ledger.mapReports()) { ($0.sequence, $0.firstSequence) = (0, 0) }
        add(try ledger.links()) { ($0.sequence, $0.firstSequence) = (0, 0) }
        add(try ledger.gateways()) { ($0.sequence, $0.firstSequence, $0.sources) = (0, 0, []) }
        add(try ledger.gatewayNodes()) { ($0.sequence, $0.firstSequence) = (0, 0) }
        add(try ledger.channels()) { ($0.firstSequence, $0.lastSequence) = (0, 0) }
        // Where its nodes were is what was known when it came.
        add(try ledger.traceRoutes()) { row in
            (row.sequence, row.firstSequence, row.requestSequence, row.places) = (0, 0, min(row.requestSequence, 1), [])
            row.replySequence = min(row.replySequence, 1)
        }
        for packet in try ledger.packets() {
            let receptions = packet.receptions.map { "\($0.gateway) \($0.heard)" }.sorted()
            lines.append(
                "\(packet.from) \(packet.to) \(packet.id) \(packet.port) \(packet.channel) \(packet.hasConflict) \(receptions)")
        }
        return lines.sorted()
    }

    @Test(arguments: UInt64(1)...4)
    func `K29 K30: the files of a recording give the same rows in any order`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let all = recording(&random).sorted { $0.rxTime < $1.rxTime }
        let inOrder = try await rows([all])
        #expect(inOrder.count > 60 && inOrder.count { $0.contains("TraceRouteRow") } > 6)
        for _ in 0..<4 {
            let found = try await rows(files(of: all, &random))
            let differences = Set(found).symmetricDifference(inOrder).sorted().joined(separator: "\n")
            #expect(differences.isEmpty, "seed \(seed): \(differences)")
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `K29: a time that is known wins over that of an import, in whatever order the files come`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: 700 + seed)
        let known = recording(&random).sorted { $0.rxTime < $1.rxTime }
        let unknown = withoutClock(known, &random)
        let one = try await rows([known, unknown])
        #expect(
            one.contains { $0.contains("isTimeOfImport: true") }
                && one.contains { $0.contains("timeSource: MeshViews.TimeSource.import") })
        for files in [[unknown, known], files(of: (known + unknown).shuffled(using: &random), &random)] {
            let differences = Set(try await rows(files)).symmetricDifference(one).sorted().joined(separator: "\n")
            #expect(differences.isEmpty, "seed \(seed): \(differences)")
        }
    }

    @Test func `K29: an overlapping file adds events, and no rows or receptions`() async throws {
        var random = SeededGenerator(seed: 7)
        let all = recording(&random).sorted { $0.rxTime < $1.rxTime }
        let once = try await rows([all])
        #expect(try await rows([all, Array(all.suffix(100)), all]) == once)
    }

    @Test(arguments: UInt64(1)...4)
    func `W10 D22: as of a time of the mesh, a ledger of recordings in any order has what had been heard by then`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let all = recording(&random).sorted { $0.rxTime < $1.rxTime }
        let whole = try await ledger(files(of: all, &random))
        for _ in 0..<4 {
            let time = all[Int.random(in: all.indices, using: &random)].rxTime
            let then = try whole.asOf(.time(Timestamp(seconds: Int64(time))))
            let differences = Set(try Self.rows(of: then)).symmetricDifference(try await rows([all.filter { $0.rxTime <= time }]))
            #expect(differences.isEmpty, "seed \(seed), \(time): \(differences.sorted().joined(separator: "\n"))")
            try await then.close()
        }
        let before = try whole.asOf(.time(Timestamp(seconds: Int64(all[0].rxTime) - 1)))
        #expect(try Self.rows(of: before).isEmpty)
        try await before.close()
        try await whole.close()
    }
}
