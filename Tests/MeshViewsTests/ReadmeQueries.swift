import Foundation
import MeshLedger
import TestKit
import Testing

struct ReadmeQueries {
    @Test func `K25 M14 W11: the queries of the README run as they stand`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // sample
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
        // sample
        #expect(!hours.isEmpty && !channels.isEmpty && !tree.isEmpty && count == rows.count)
        try await ledger.close()
    }

    @Test func `S14 G22 W12: what the README archives and relates is archived and related`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // relations
        var silent = FetchDescriptor<NodeRow>()
        silent.conditions = [.exists(NodeRow.positions), !.exists(NodeRow.sentMessages)]
        let gone = try await ledger.archive(rows: silent, rules: [RelationRule(NodeRow.positions, .cascade)])
        print(gone?.count ?? 0)

        let guards = Relation<NodeRow, NodeRow>(made: "guards")
        let nodes = try ledger.nodes()
        try await ledger.set(guards, of: Array(nodes.prefix(1)), to: Array(nodes.dropFirst().prefix(2)))
        for guarded in try ledger.related(nodes[0], guards) { print(guarded.longName) }
        // relations
        #expect(try ledger.related(nodes[0], guards).count == 2 && (gone?.count ?? 0) > 0 && ledger.fetchCount(silent) == 0)
        try await ledger.close()
    }

    @Test func `K13: the decisions of the README run as they stand`() async throws {
        let ledger = try await Asking.ledger(events: 200)
        // decisions
        let since: UInt32 = 1_700_000_000
        if let node = try ledger.nodes().first?.number {
            try await ledger.annotate(.favorite(node), .note(node, "on the roof"))
        }
        let hidden = try await ledger.archive(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.time < since }))
        if let hidden { try await ledger.revert(hidden.events.lowerBound) }
        // decisions
        try await ledger.close()
    }

    @Test func `the queries in the README are those that this file runs`() throws {
        let readme = try String(contentsOf: PackageRoot.url.appendingPathComponent("README.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let section = try #require(readme.components(separatedBy: "## Ask it from Swift\n").last)
        let shown = section.components(separatedBy: "```swift").dropFirst().map { $0.components(separatedBy: "```")[0] }
        // Before each stand the imports and what is given, which MeshCommandsTests compiles with it.
        for (block, mark) in zip(shown, ["// sample\n", "// decisions\n", "// relations\n"]) {
            let sample = lines(source.components(separatedBy: mark)[1])
            #expect(lines(block).suffix(sample.count) == sample[...])
        }
        #expect(shown.count == 3)
    }
}
