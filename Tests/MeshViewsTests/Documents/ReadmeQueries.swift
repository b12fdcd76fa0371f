import Foundation
import MeshLedger
import TestKit
import Testing

struct ReadmeQueries {
    @Test func `K25 M14 W11: the queries of the article run as they stand`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // AskingFromSwift 1
        let since: UInt32 = 1_700_000_000
        var newest = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.time >= since && ($0.altitude ?? 0) < 9_000 })
        newest.sortBy = [SortDescriptor(\.time, order: .reverse)]
        newest.fetchLimit = 100
        let rows = try ledger.fetch(newest)
        let count = try await ledger.fetchCount(newest, .latest)  // with what was appended just now
        print(rows.count, count, try ledger.explain(newest))

        let hours = try ledger.bucketed(FetchDescriptor<PositionRow>(), by: .hours(1), [.count, .mean(\.snr)])
        let channels = try ledger.grouped(FetchDescriptor<MessageRow>(), by: \.channel, [.max(\.time)])
        for hour in hours { print(hour.start, hour.count, hour.values[1] ?? 0) }
        for channel in channels { print(channel.key, channel.count) }

        let texts = try ledger.select(\MessageRow.from, \MessageRow.text)  // nothing else is decoded
        for (from, text) in texts { print(from, text) }
        var cafes = FetchDescriptor<MessageRow>()
        cafes.textConditions = [.contains("cafe", in: \.text), !.hasPrefix("test", in: \.text)]  // CAFÉ, too
        print(try ledger.fetchCount(cafes))

        try await ledger.enumerate(FetchDescriptor<MessageRow>()) { message in print(message.text) }  // in short reads
        let threads = try ledger.fetch(FetchDescriptor<MessageRow>(), with: MessageRow.replies)
        let tree = try ledger.expand(FetchDescriptor<NodeRow>(), [.rows, .fragments, .ids], newest: 5)
        for node in tree { print(node.json, threads.count) }

        for try await result in ledger.observe(FetchDescriptor<NodeRow>()) {  // now, and after each commit that changes it
            print(result.rows.count)
            break
        }
        // AskingFromSwift 1
        #expect(!hours.isEmpty && !channels.isEmpty && !tree.isEmpty && count == rows.count)
        try await ledger.close()
    }

    @Test func `S14 G22 W12: what the article archives and relates is archived and related`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // AskingFromSwift 3
        var silent = FetchDescriptor<NodeRow>()
        silent.conditions = [.exists(NodeRow.positions), !.exists(NodeRow.sentMessages)]
        let gone = try await ledger.annotations.archive(rows: silent, rules: [RelationRule(NodeRow.positions, .cascade)])
        print(gone?.count ?? 0)

        let guards = Relation<NodeRow, NodeRow>(made: "guards")
        let nodes = try ledger.nodes()
        try await ledger.annotations.set(guards, of: Array(nodes.prefix(1)), to: Array(nodes.dropFirst().prefix(2)))
        for guarded in try ledger.related(nodes[0], guards) { print(guarded.longName) }
        // AskingFromSwift 3
        #expect(try ledger.related(nodes[0], guards).count == 2 && (gone?.count ?? 0) > 0 && ledger.fetchCount(silent) == 0)
        try await ledger.close()
    }

    @Test func `K13: the decisions of the article run as they stand`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        let old = MeshPacketBuilder(id: 5, rxTime: 1_650_000_000, payload: Array("long ago".utf8))
        _ = try await ledger.log.append([
            NewEvent(
                old.envelope(), encoding: .serviceEnvelope, source: ledger.log.source(named: "recorded"),
                reception: .recorded(Timestamp(seconds: 1_650_000_000)))
        ])
        try await ledger.catchUp()
        let messages = try ledger.messages().count
        // AskingFromSwift 2
        let since: UInt32 = 1_700_000_000
        if let node = try ledger.nodes().first?.number {
            try await ledger.annotations.record(.favorite(node), .note(node, "on the roof"))
        }
        let hidden = try await ledger.annotations.archive(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.time < since }))
        if let hidden { try await ledger.annotations.revert(hidden.events.lowerBound) }
        // AskingFromSwift 2
        try await ledger.catchUp()
        let decided = try #require(try ledger.nodes().first { $0.isFavorite })
        #expect(decided.note == "on the roof" && hidden?.count == 1 && messages > 1)
        #expect(try ledger.messages().count == messages)
        try await ledger.close()
    }

    @Test func `the housekeeping of the article is done`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // AskingFromSwift 4
        let consumer = try ledger.consumer(named: "feed")  // goes on where it last acknowledged, also in a later process
        while let last = try consumer.available(limit: 500).last {  // next() waits for more
            try consumer.acknowledge(through: last.sequence)
        }
        consumer.close()

        let harbour = try ChannelKey(name: "Harbour", base64: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        try await ledger.keys.change(.addChannels([harbour]))
        try ledger.retention.setPolicy(RetentionPolicy(longestSeconds: 90 * 86_400))
        if let message = try ledger.messages(RowQuery(limit: 1)).first {
            try await ledger.erasure.erase(.packet(id: message.id, from: message.from), reason: "asked for by its author")
        }
        // AskingFromSwift 4
        #expect(try ledger.log.consumers().map(\.name) == ["feed"])
        #expect(try ledger.retention.policy().longestSeconds == 7_776_000 && ledger.log.erasures().count == 1)
        try await ledger.close()
    }

    @Test func `D22 G27: the questions of the article about the past are answered as of then`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // AskingThePast 1
        let then = try ledger.asOf(.sequence(100))
        for node in try then.nodes() { print(node.longName, node.lastHeard) }
        let early = try then.fetchCount(FetchDescriptor<PositionRow>())
        try await then.close()

        let now = try ledger.fetchCount(FetchDescriptor<PositionRow>())
        let changes = try ledger.changes.fetch(of: "positions", from: .sequence(100), through: .sequence(200))
        print(early, now, changes.count { $0.old == nil }, changes.count { $0.new == nil })
        // AskingThePast 1
        #expect(early > 0 && early < now && changes.count { $0.old == nil } == now - early)
        try await ledger.close()
    }

    @Test func `D23: the proofs of the article hold without the ledger`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // Proofs 1
        let key = try ledger.log.verifier()  // keep it away from the ledger, as text
        let monday = try ledger.log.checkpoint(size: EventSequence(100))
        let friday = try ledger.log.checkpoint()

        let proof = try ledger.log.proof(of: EventSequence(17)).description
        let extended = try ledger.log.consistencyProof(from: monday, to: friday).description

        // Elsewhere, without the ledger: texts come in, and `check` throws unless they prove something.
        let keptKey = NoteVerifier(key.description)
        if let keptKey, let inclusion = InclusionProof(proof), let growth = ConsistencyProof(extended) {
            let statement = try inclusion.check(keptKey)
            let (old, new) = try growth.check(keptKey)
            print(statement.sequence, statement.payload?.count ?? 0, old.size, new.size)
        }
        // Proofs 1
        let verifier = try #require(NoteVerifier(key.description))
        #expect(try InclusionProof(proof)?.check(verifier).sequence.rawValue == 17)
        #expect(try ConsistencyProof(extended)?.check(verifier).new.size == 200)
        try await ledger.close()
    }
}
