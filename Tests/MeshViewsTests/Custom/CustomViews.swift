import EventLog
import Foundation
import MeshLedger
import MeshSimulator
import ProtobufWire
import TestKit
import Testing

struct CustomViews {
    private static var options: LedgerOptions {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.views = [PortUses.self]
        return options
    }

    /// Packets of ten nodes on several ports, some of them twice, some with the id of another one of their sender, but on another port.
    static func packets(_ count: Int, seed: UInt64) -> [MeshPacketBuilder] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            var packet = MeshPacketBuilder(
                from: UInt32.random(in: 100..<110, using: &random), id: UInt32(index / 2 + 1),
                rxTime: 1_780_000_000 + UInt32(index))
            packet.port = [Port.text, Port.position, Port.nodeInfo][Int.random(in: 0..<3, using: &random)]
            packet.payload = packet.port == Port.position ? MeshPacketBuilder.position(1, 2) : Array("text".utf8)
            if packet.port == Port.nodeInfo { packet.payload = MeshPacketBuilder.user("n") }
            return packet
        }
    }

    @Test func `a view of one's own has rows, predicates, changes and a digest like the others`() async throws {
        let packets = Self.packets(400, seed: 1)
        let ledger = try await ledger(of: packets, options: Self.options)
        var expected: [String: UInt64] = [:]
        // The port decides about the content: on another one it is another packet.
        var seen: Set<[UInt32]> = []
        for packet in packets where seen.insert([packet.from, packet.id, packet.port]).inserted {
            expected["\(packet.from) \(packet.port)", default: 0] += 1
        }
        let rows = try ledger.fetch(FetchDescriptor<PortUse>())
        #expect(Dictionary(uniqueKeysWithValues: rows.map { ("\($0.node) \($0.port)", $0.packets) }) == expected)
        let descriptor = FetchDescriptor<PortUse>(predicate: #Predicate { $0.node == 103 && $0.packets > 0 })
        #expect(try ledger.fetch(descriptor).map(\.port) == rows.filter { $0.node == 103 }.map(\.port))
        #expect(try ledger.explain(descriptor).access == .ranges)
        var busiest = FetchDescriptor<PortUse>(
            predicate: #Predicate { $0.port == 3 }, sortBy: [SortDescriptor(\.packets, order: .reverse)])
        busiest.requiresIndex = true
        #expect(try ledger.fetch(busiest).map(\.packets) == rows.filter { $0.port == 3 }.map(\.packets).sorted(by: >))
        let digest = try ledger.maintenance.digest(of: "port-use")
        try await ledger.maintenance.rebuild(["port-use"])
        #expect(try ledger.maintenance.digest(of: "port-use") == digest)
        #expect(ledger.viewNames.last == "port-use")
        try await ledger.close()
    }

    /// Counts packets by node; keeps few rows, and refuses the payload "bad".
    struct Tally: StoredRow {
        var node: UInt32 = 0
        var id: UInt32 = 0
        var time: UInt32 = 0
        var texts: [String] = []
        static let view = "tally"
        static let columns: [RowColumn<Tally>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(key: "id", \.id), RowColumn(1, "time", \.time, .time),
            RowColumn(2, "texts", \.texts),
        ]
    }

    struct Refusal: Error, CustomStringConvertible { var description: String { "a bad text" } }

    struct Tallies: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<Tally>.each(\.node, 7, by: \.time)
        static let ports: Set<UInt32>? = [Port.text]

        func fold(_ event: MeshEvent, into rows: inout RowEditor<Tally>) throws {
            let text = event.text
            // Rows rise, fall and go, so that the cap meets every case.
            try rows.update(Tally(node: event.packet.from, id: event.packet.id % 11)) { row in
                row.time = event.time
                row.texts = (row.texts + [text]).suffix(3)
            }
            if text == "bad" { throw Refusal() }
            if text == "gone" { rows.remove(Tally(node: event.packet.from, id: event.packet.id % 11)) }
        }
    }

    /// What `Tallies` makes, by sorting all rows of a node.
    private static func model(_ packets: [MeshPacketBuilder]) -> [String: [String]] {
        var rows: [UInt32: [UInt32: (time: UInt32, texts: [String])]] = [:]
        for packet in packets {
            let text = String(decoding: packet.payload, as: UTF8.self)
            guard text != "bad" else { continue }
            let id = packet.id % 11
            var row = rows[packet.from]?[id] ?? (0, [])
            row = (packet.rxTime, (row.texts + [text]).suffix(3))
            rows[packet.from, default: [:]][id] = text == "gone" ? nil : row
            if let node = rows[packet.from], node.count > 7 {
                let lowest = node.min { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
                if let lowest { rows[packet.from]?[lowest.key] = nil }
            }
        }
        var all: [String: [String]] = [:]
        for (node, rowsOfNode) in rows { for (id, row) in rowsOfNode { all["\(node) \(id) \(row.time)"] = row.texts } }
        return all
    }

    private static func texts(_ count: Int, _ random: inout SeededGenerator, from first: Int) -> [MeshPacketBuilder] {
        (first..<first + count).map { index in
            var packet = MeshPacketBuilder(
                from: UInt32.random(in: 100..<103, using: &random), id: UInt32(index + 1),
                rxTime: 1_780_000_000 + UInt32.random(in: 0..<3_000, using: &random))
            packet.payload = Array(["text \(index)", "bad", "gone", "a"][Int.random(in: 0..<4, using: &random)].utf8)
            return packet
        }
    }

    @Test(arguments: 1...6)
    func `a capped view of one's own is the same after any flushes and reopenings as after one fold`(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var options = Self.options
        options.views = [Tallies.self]
        var random = SeededGenerator(seed: seed)
        var all: [MeshPacketBuilder] = []
        var ledger = try await Ledger.create(at: path, options: options)
        while all.count < 500 {
            let next = Self.texts(Int.random(in: 1...60, using: &random), &random, from: all.count)
            all += next
            let source = try await ledger.log.source(named: "test")
            _ = try await ledger.log.append(next.map { $0.event(source) })
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try await ledger.catchUp()
            case 1:
                try await ledger.close()
                ledger = try await Ledger.open(at: path, options: options)
            default: break
            }
        }
        try await ledger.catchUp()
        let rows = try ledger.fetch(FetchDescriptor<Tally>())
        let found = Dictionary(uniqueKeysWithValues: rows.map { ("\($0.node) \($0.id) \($0.time)", $0.texts) })
        #expect(found == Self.model(all), "seed \(seed)")
        let bad = all.count { String(decoding: $0.payload, as: UTF8.self) == "bad" }
        let quarantine = try ledger.maintenance.quarantine(view: "tally")
        #expect(quarantine.count == bad)
        #expect(quarantine.allSatisfy { $0.reason == "a bad text" })
        let digest = try ledger.maintenance.digest(of: "tally")
        try await ledger.maintenance.rebuild(["tally"])
        #expect(try ledger.maintenance.digest(of: "tally") == digest, "seed \(seed)")
        try await ledger.close()
    }

    /// Wants the texts "now" and "bad" committed early, and refuses "bad".
    struct HurriedTallies: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<Tally>.total(100, by: \.time)
        static let ports: Set<UInt32>? = [Port.text]

        func fold(_ event: MeshEvent, into rows: inout RowEditor<Tally>) throws {
            if event.text != "later" { rows.commitSoon() }
            if event.text == "bad" { throw Refusal() }
            rows.insert(Tally(node: event.packet.from, id: event.packet.id, time: event.time))
        }
    }

    @Test func `a fold's rows are committed early where it asks for that, but not for an event that it refuses`() async throws {
        let hour = Duration.seconds(3_600)
        var options = Self.options
        options.views = [HurriedTallies.self]
        options.flushPolicy = FlushPolicy(quietPeriod: hour, ceiling: hour)
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "test")
        func send(_ text: String, id: UInt32) async throws {
            var packet = MeshPacketBuilder(from: 100, id: id, rxTime: 1_780_000_000 + id)
            packet.payload = Array(text.utf8)
            _ = try await ledger.log.append([packet.event(source)])
            // The view of messages commits each of them, after which the others had the time to do so, too.
            try await eventually { try ledger.messages().count == Int(id) }
            try await Task.sleep(for: .milliseconds(100))
        }
        func ids() throws -> [UInt32] { try ledger.fetch(FetchDescriptor<Tally>()).map(\.id).sorted() }
        try await send("later", id: 1)
        #expect(try ids() == [])
        try await send("now", id: 2)
        try await eventually { try ids() == [1, 2] }
        try await send("bad", id: 3)
        try await send("later", id: 4)
        #expect(try ids() == [1, 2])
        try await send("now", id: 5)
        try await eventually { try ids() == [1, 2, 4, 5] }
        try await ledger.close()
    }

    @Test func `D1: a wrong fold is put right by another version of it`() async throws {
        struct Wrong: LedgerView {
            static let versions = [SchemaVersion(1)]
            static let cap = RowCap<PortUse>.total(20_000, by: \.lastHeard)
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) throws {
                try rows.update(PortUse(node: event.packet.from, port: 0)) { $0.packets += 7 }
            }
        }
        struct Right: LedgerView {
            static let versions = [SchemaVersion(1), SchemaVersion(2)]
            static let cap = RowCap<PortUse>.total(20_000, by: \.lastHeard)
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) throws {
                try PortUses().fold(event, into: &rows)
            }
        }
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var options = Self.options
        options.views = [Wrong.self]
        var ledger = try await Ledger.create(at: path, options: options)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(Self.packets(300, seed: 2).map { $0.event(source) })
        try await ledger.catchUp()
        #expect(try ledger.fetch(FetchDescriptor<PortUse>()).allSatisfy { $0.port == 0 })
        try await ledger.close()
        options.views = [Right.self]
        ledger = try await Ledger.open(at: path, options: options)
        try await ledger.catchUp()
        let fresh = try await MeshViewsTests.ledger(of: Self.packets(300, seed: 2), options: Self.options)
        #expect(try ledger.fetch(FetchDescriptor<PortUse>()).map(\.value) == fresh.fetch(FetchDescriptor<PortUse>()).map(\.value))
        try await ledger.close()
        try await fresh.close()
    }

    @Test func `S3: a view that is not listed any more keeps its file`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path, options: Self.options)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(Self.packets(100, seed: 3).map { $0.event(source) })
        try await ledger.catchUp()
        let digest = try ledger.maintenance.digest(of: "port-use")
        try await ledger.close()
        ledger = try await Ledger.open(at: path, options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        try await ledger.maintenance.rebuild()
        try await ledger.close()
        var readOnly = Self.options
        readOnly.access = .readOnly
        ledger = try await Ledger.open(at: path, options: readOnly)
        #expect(try ledger.maintenance.digest(of: "port-use") == digest)
        try await ledger.close()
    }

    @Test func `M23 M27 S4: versions that are missing, twice or out of order are refused by name`() async throws {
        struct Jump: LedgerView {
            static let versions = [SchemaVersion(1), SchemaVersion(3)]
            static let cap = RowCap<PortUse>.none
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) {}
        }
        struct Twice: LedgerView {
            static let versions = [SchemaVersion(1), SchemaVersion(1)]
            static let cap = RowCap<PortUse>.none
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) {}
        }
        struct Unversioned: LedgerView {
            static let versions: [SchemaVersion] = []
            static let cap = RowCap<PortUse>.none
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) {}
        }
        struct Falling: LedgerView {
            static let versions = [SchemaVersion(2), SchemaVersion(1)]
            static let cap = RowCap<PortUse>.none
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) {}
        }
        struct Swapped: LedgerView {
            static let versions = [SchemaVersion(1), SchemaVersion(3), SchemaVersion(2)]
            static let cap = RowCap<PortUse>.none
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) {}
        }
        struct Late: LedgerView {
            static let versions = [SchemaVersion(2), SchemaVersion(3)]
            static let cap = RowCap<PortUse>.none
            func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) {}
        }
        let views: [([any LedgerView.Type], String)] = [
            ([Falling.self], "version 1"), ([Swapped.self], "version 2"), ([Late.self], "version 1"),
            ([Jump.self], "version 2"), ([Twice.self], "version 2"), ([Unversioned.self], "no version"),
            ([PortUses.self, PortUses.self], "another view"),
        ]
        for (view, word) in views {
            var options = Self.options
            options.views = view
            let error = await #expect(throws: LedgerError.self) { try await Ledger.temporary(options: options) }
            #expect(error?.code == .schema)
            #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
        }
    }

    /// What version 1 did not know: a port of its own.
    struct Readings: LedgerView {
        typealias Row = PortUse
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<PortUse>.total(100, by: \.lastHeard)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) {}
    }

    struct NewReadings: LedgerView {
        static let versions = [SchemaVersion(1), SchemaVersion(2)]
        static let cap = RowCap<PortUse>.total(100, by: \.lastHeard)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) throws {
            guard event.packet.port == 300 else { return }
            try rows.update(PortUse(node: event.packet.from, port: 300)) { $0.bytes += event.payload { UInt64($0.byteCount) } }
        }
    }

    @Test func `X10: a packet of an unknown port is kept as it came, and is in the view of the version that knows it`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var options = Self.options
        options.views = [Readings.self]
        var ledger = try await Ledger.create(at: path, options: options)
        let source = try await ledger.log.source(named: "test")
        let packet = MeshPacketBuilder(from: 7, id: 9, port: 300, payload: [0xf0, 0x0d, 0x01])
        try await ledger.log.append([packet.event(source)])
        try await ledger.catchUp()
        #expect(try ledger.fetch(FetchDescriptor<PortUse>()).isEmpty && ledger.maintenance.quarantine().isEmpty)
        let event = try #require(try ledger.log.event(EventSequence(1)))
        let shown = Dissector.dissectEvent(form: .serviceEnvelope, bytes: event.payload.rawSpan, keyring: .standard)
        #expect(shown.textTree.contains("1 portnum = 300") && shown.textTree.contains("2 payload = f00d01"))
        try await ledger.close()
        options.views = [NewReadings.self]
        ledger = try await Ledger.open(at: path, options: options)
        try await ledger.catchUp()
        #expect(try ledger.fetch(FetchDescriptor<PortUse>()).map { [$0.node, $0.port, UInt32($0.bytes)] } == [[7, 300, 3]])
        try await ledger.close()
    }
}
