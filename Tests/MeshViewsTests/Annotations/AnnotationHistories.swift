import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Annotations through replays, erasures and merges.
struct AnnotationHistories {
    private typealias Packet = MeshPacketBuilder
    private static let start = Annotations.start
    private static let traffic = Annotations.traffic

    private func made() async throws -> Ledger { try await ledger(of: Self.traffic) }

    private func random(_ random: inout SeededGenerator) -> Annotation {
        let node = UInt32.random(in: 1_000..<1_030, using: &random)
        var annotation = Annotation(.node(node))
        if Bool.random(using: &random) {
            let keys = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                MessageKey(
                    from: UInt32.random(in: 1_000..<1_030, using: &random), id: UInt32.random(in: 1...30, using: &random),
                    time: Self.start + UInt32.random(in: 0..<9_000, using: &random))
            }
            annotation = Annotation(.messages(keys))
            annotation.isRead = Bool.random(using: &random)
        } else {
            annotation.isFavorite = Bool.random(using: &random)
            annotation.isIgnored = Bool.random(using: &random) ? Bool.random(using: &random) : nil
            annotation.note = [.keep, .clear, .set("note \(node)")][Int.random(in: 0..<3, using: &random)]
            annotation.alias = [.keep, .clear, .set("a"), .set("b")][Int.random(in: 0..<4, using: &random)]
        }
        if Bool.random(using: &random) { annotation.isArchived = Bool.random(using: &random) }
        if UInt32.random(in: 0..<8, using: &random) == 0 { annotation.time = 7 }
        return annotation
    }

    @Test(arguments: 1...8)
    func `K13: any pattern of annotations, flushes and reopenings gives the rows of one full fold`(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let options = LedgerOptions(caps: ViewCaps(nodes: 9, messages: 25))
        var random = SeededGenerator(seed: seed)
        var ledger = try await Ledger.create(at: path, options: options)
        for _ in 0..<25 {
            let source = try await ledger.log.source(named: "test")
            let events = (0..<Int.random(in: 1...60, using: &random)).map { _ -> NewEvent in
                if UInt32.random(in: 0..<4, using: &random) == 0 {
                    return NewEvent(self.random(&random).payload, encoding: .annotation, source: source)
                }
                return Packet(
                    from: UInt32.random(in: 1_000..<1_030, using: &random), id: UInt32.random(in: 1...30, using: &random),
                    rxTime: Self.start + UInt32.random(in: 0..<9_000, using: &random), payload: Array("text".utf8),
                    gateway: "!0000000\(UInt32.random(in: 1...3, using: &random))"
                ).event(source)
            }
            _ = try await ledger.log.append(events)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try await ledger.catchUp()
            case 1:
                try await ledger.close()
                ledger = try await Ledger.open(at: path, options: options)
            default: break
            }
        }
        try await ledger.catchUp()
        let then = ledger.log.head.rawValue
        let views = ["nodes", "messages", "packets"]
        let incremental = try views.map { try ledger.maintenance.digest(of: $0) }
        let past = try ledger.asOf(.sequence(then))
        #expect(try views.map { try past.maintenance.digest(of: $0) } == incremental, "as of the last event, seed \(seed)")
        try await past.close()
        try await ledger.close()
        try FileManager.default.removeItem(atPath: path + "/views")
        let again = try await Ledger.open(at: path, options: options)
        try await again.catchUp()
        #expect(try views.map { try again.maintenance.digest(of: $0) } == incremental, "seed \(seed)")
        try await again.close()
    }

    private func read(_ bytes: [UInt8]) -> Annotation? { Annotation(payload: bytes.rawSpan) }

    @Test func `an annotation says what it said after it was written and read`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let annotation = self.random(&random)
            let payload = annotation.payload
            #expect(read(payload) == annotation)
            for length in payload.indices { _ = read(Array(payload.prefix(length))) }
        }
        for bytes: [UInt8] in [[], [0x18, 1], [0x0d, 0, 0, 0, 0], [0x0d, 255, 255, 255, 255], [0x12, 3, 1, 2, 3], [0xff]] {
            #expect(read(bytes) == nil)
        }
    }

    @Test func `an event that is no annotation is quarantined and changes nothing`() async throws {
        let ledger = try await made()
        let before = try ledger.nodes()
        let source = try await ledger.log.source(named: "test")
        let sequence = try await ledger.log.append(NewEvent([0xff, 1], encoding: .annotation, source: source))
        try await ledger.catchUp()
        #expect(try ledger.nodes() == before)
        #expect(try ledger.maintenance.quarantine(view: "nodes").map(\.sequence) == [sequence.rawValue])
        try await ledger.close()
    }

    // MARK: Erasure and merging

    @Test func `D15: erasing a node takes its notes and marks along and leaves those of others`() async throws {
        let ledger = try await made()
        try await ledger.annotations.record(.note(1_001, "his address"), .note(1_002, "kept"), .alias(1_001, "neighbour"))
        let all = FetchDescriptor<MessageRow>(predicate: #Predicate { $0.id == 11 || $0.id == 21 || $0.id == 31 })
        let archived = try #require(try await ledger.annotations.archive(all)).events.lowerBound
        try await ledger.annotations.record(.read([MessageKey(from: 1_002, id: 22, time: Self.start + 2)]))
        try await ledger.annotations.record(.restore([MessageKey(from: 1_003, id: 31, time: Self.start + 1)]))
        let then = try #require(try ledger.message(id: 21, from: 1_002, includingArchived: true))
        try await ledger.erasure.erase(.node(1_001), reason: "asked for")
        try await ledger.catchUp()
        #expect(try ledger.node(1_001, includingArchived: true) == nil)
        #expect(try ledger.log.event(archived)?.header.isErased == true)
        #expect(try ledger.message(id: 21, from: 1_002, includingArchived: true) == then)
        #expect(try ledger.message(id: 31, from: 1_003)?.isArchived == false)
        #expect(try ledger.message(id: 22, from: 1_002)?.isRead == true && ledger.node(1_002)?.note == "kept")
        let erased: Set<UInt32> = [1_001]
        for sequence in 1...ledger.log.head.rawValue {
            guard let event = try ledger.log.event(EventSequence(sequence)), let annotation = Annotation(event) else { continue }
            #expect(erased.isDisjoint(with: annotation.nodes))
        }
        try await ledger.close()
    }

    @Test func `D19: annotations of two ledgers come together, in whatever order they are merged`() async throws {
        let folder = try TemporaryFolder()
        for (name, annotations) in [
            ("one", [Annotation.note(1_001, "of one"), .favorite(1_002)]),
            ("two", [.note(1_001, "of two"), .alias(1_002, "hill")]),
        ] {
            let ledger = try await Ledger.create(at: folder.path + "/" + name)
            let source = try await ledger.log.source(named: name)
            _ = try await ledger.log.append(Self.traffic.map { $0.event(source) })
            try await ledger.annotations.record(annotations)
            try await ledger.annotations.record(
                .read([MessageKey(from: 1_001, id: name == "one" ? 11 : 12, time: Self.start + 1)]))
            try await ledger.close()
        }
        var digests: [[String]] = []
        for (name, order) in [("ab", ["one", "two"]), ("ba", ["two", "one"])] {
            let path = folder.path + "/" + name
            let logs = try order.map {
                try EventLog.open(at: folder.path + "/" + $0, options: EventLogOptions(access: .readOnly))
            }
            _ = try await EventLog.merge(logs, into: path, options: EventLogOptions(summariser: .meshtastic))
            for log in logs { await log.close() }
            let ledger = try await Ledger.open(at: path)
            try await ledger.catchUp()
            let node = try #require(try ledger.node(1_001))
            #expect(node.note == "of two")
            #expect(try ledger.node(1_002)?.isFavorite == true && ledger.node(1_002)?.alias == "hill")
            #expect(try ledger.messages(of: 1_001).filter(\.isRead).map(\.id).sorted() == [11, 12])
            digests.append(try ["nodes", "messages"].map { try ledger.maintenance.digest(of: $0) })
            try await ledger.close()
        }
        #expect(digests[0] == digests[1])
    }
}
