import EventLog
import Foundation
import MeshLedger
import MeshSimulator
import Meshtastic
import TestKit
import Testing

/// The indexes of the views follow their rows through caps, restarts, rebuilds and erasures, and serve what a view is asked for.
struct IndexesOfViews {
    private static let options = LedgerOptions(
        log: EventLogOptions(isDurable: false), caps: ViewCaps(nodes: 30, positions: 12, telemetry: 9, messages: 20))

    private func append(_ count: Int, of simulation: inout MeshSimulation, to ledger: Ledger) async throws {
        let source = try await ledger.log.source(named: "simulated")
        var batch = EventBatch()
        for _ in 0..<count { batch.append(NewEvent(simulation.next().envelope, encoding: .serviceEnvelope, source: source)) }
        try await ledger.log.append(batch)
    }

    private func expectSound(_ ledger: Ledger, _ when: String) throws {
        for view in Ledger.viewNames {
            #expect(try ledger.maintenance.isIndexed(view), "\(view), \(when)")
            #expect(try ledger.maintenance.indexFault(of: view) == nil, "\(view), \(when)")
        }
    }

    @Test func `K11: through caps, restarts, a rebuild and an erasure the indexes of all views are those of their rows`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path, options: Self.options)
        var simulation = MeshSimulation(SimulationOptions(seed: 11, nodes: 40))
        for round in 0..<6 {
            try await append(700, of: &simulation, to: ledger)
            try await ledger.catchUp()
            try expectSound(ledger, "round \(round)")
            if round == 3 {
                try await ledger.close()
                ledger = try await Ledger.open(at: path, options: Self.options)
                try expectSound(ledger, "after a restart")
            }
        }
        try newest(ledger)
        try await ledger.maintenance.rebuild()
        try expectSound(ledger, "after a rebuild")
        let node = try #require(try ledger.nodes().first?.number)
        _ = try await ledger.erasure.erase(.node(node), reason: "test")
        try await ledger.catchUp()
        try expectSound(ledger, "after an erasure")
        let left = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.time > 0 && $0.node == node })
        #expect(try ledger.fetchCount(left) == 0)
        try await ledger.close()
    }

    @Test func `K17: a ledger without indexes answers from its rows as one with them, and gets them when it is opened with them`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var bare = Self.options
        bare.keepsIndexes = false
        var ledger = try await Ledger.create(at: path, options: bare)
        var simulation = MeshSimulation(SimulationOptions(seed: 12, nodes: 40))
        try await append(1_500, of: &simulation, to: ledger)
        try await ledger.catchUp()
        for view in ["positions", "messages"] { #expect(try !ledger.maintenance.isIndexed(view)) }
        try newest(ledger)
        let word = try #require(try ledger.messages().lazy.compactMap { $0.text.split(separator: " ").first }.first)
        let query = TextQuery(String(word), in: \MessageRow.text)
        let found = try ledger.search(query).map(\.row)
        #expect(!found.isEmpty)
        let digests = try Ledger.viewNames.map { try ledger.maintenance.digest(of: $0) }
        try await ledger.close()

        ledger = try await Ledger.open(at: path, options: Self.options)
        try await ledger.catchUp()
        try expectSound(ledger, "opened with indexes")
        #expect(try ledger.search(query).map(\.row) == found)
        #expect(try Ledger.viewNames.map { try ledger.maintenance.digest(of: $0) } == digests)
        try await ledger.close()

        ledger = try await Ledger.open(at: path, options: bare)
        try await append(500, of: &simulation, to: ledger)
        try await ledger.catchUp()
        try newest(ledger)
        try await ledger.close()
        ledger = try await Ledger.open(at: path, options: Self.options)
        try await ledger.catchUp()
        try expectSound(ledger, "after events that came without indexes")
        try newest(ledger)
        try await ledger.close()
    }

    private func newest(_ ledger: Ledger) throws {
        let all = try ledger.positions(of: nil, RowQuery(newestFirst: false))
        var descriptor = FetchDescriptor<PositionRow>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 25)
        #expect(try ledger.fetch(descriptor) == Array(all.reversed().sorted(using: descriptor.sortBy).prefix(25)))
        let middle = all.map(\.time).sorted()[all.count / 2]
        descriptor.predicate = #Predicate { $0.time >= middle }
        let page = try ledger.page(descriptor)
        let later = all.count { $0.time >= middle }
        #expect(page.total == later)
        #expect(page.cost.rows == 25)
    }

    @Test func `M13: for what each view is asked for no row is read that is not wanted`() throws {
        let (time, node, name) = (UInt32(1_780_000_000), UInt32(7), "Berg")
        let kind = TelemetryKind.device
        try expect(FetchDescriptor<NodeRow>(sortBy: [SortDescriptor(\.lastHeard, order: .reverse)], fetchLimit: 20), "lastHeard")
        try expect(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.lastHeard >= time }), "lastHeard")
        try expect(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.longName == name }), "longName")
        try expect(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.shortName == name }), "shortName")
        try expect(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.hardwareModel == 43 }), "hardwareModel")
        try expect(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.number == node }), nil)
        try expect(
            FetchDescriptor<PositionRow>(
                predicate: #Predicate { $0.node == node && $0.time >= time }, sortBy: [SortDescriptor(\.time, order: .reverse)]),
            nil)
        try expect(
            FetchDescriptor<PositionRow>(predicate: #Predicate { $0.time >= time }, sortBy: [SortDescriptor(\.time)]), "time")
        try expect(
            FetchDescriptor<TelemetryRow>(
                predicate: #Predicate { $0.kind == kind && $0.time >= time }, sortBy: [SortDescriptor(\.time)]), "kind, time")
        try expect(FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 20), "time")
        try expect(
            FetchDescriptor<MessageRow>(
                predicate: #Predicate { $0.from == node && $0.time >= time }, sortBy: [SortDescriptor(\.time)]), "from, time")
        try expect(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.id == node }), "id")
        try expect(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.replyID == node }), "replyID")
        try expect(FetchDescriptor<WaypointRow>(predicate: #Predicate { $0.expire >= time }), "expire")
        try expect(FetchDescriptor<TraceRouteRow>(predicate: #Predicate { $0.from == node }), nil)
        try expect(
            FetchDescriptor<TraceRouteRow>(predicate: #Predicate { $0.to == node }, sortBy: [SortDescriptor(\.time)]), "to, time")
        try expect(FetchDescriptor<LinkRow>(predicate: #Predicate { $0.hearer == node }), nil)
        try expect(FetchDescriptor<LinkRow>(predicate: #Predicate { $0.heard == node }), "heard")
    }

    private static var document: [String] {
        get throws {
            let path = PackageRoot.url.appendingPathComponent("Sources/MeshViews/INDEXES.md")
            return try String(contentsOf: path, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    private static func explanation<Row: QueryRow>(_ query: FetchDescriptor<Row>) -> (Ledger) throws -> QueryExplanation {
        { try $0.explain(query) }
    }

    /// What each documented question is asked with.
    private static func questions() -> [String: [(Ledger) throws -> QueryExplanation]] {
        let (time, node, name) = (UInt32(1_780_000_000), UInt32(7), "Berg")
        let (kind, thread) = (TelemetryKind.device, MessageThread.channel(0))
        var water = FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 20)
        water.textConditions = [.contains("water", in: \.text)]
        return [
            "nodes heard last, or since a time": [
                explanation(FetchDescriptor<NodeRow>(sortBy: [SortDescriptor(\.lastHeard, order: .reverse)], fetchLimit: 20)),
                explanation(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.lastHeard >= time })),
            ],
            "nodes of a hardware model; by long or short name": [
                explanation(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.hardwareModel == 43 })),
                explanation(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.longName == name })),
                explanation(FetchDescriptor<NodeRow>(predicate: #Predicate { $0.shortName == name })),
            ],
            "a node's track, its newest positions": [
                explanation(
                    FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == node }, sortBy: [SortDescriptor(\.time)])),
                explanation(
                    FetchDescriptor<PositionRow>(
                        predicate: #Predicate { $0.node == node }, sortBy: [SortDescriptor(\.time, order: .reverse)],
                        fetchLimit: 9)),
            ],
            "positions of all nodes in a time": [
                explanation(
                    FetchDescriptor<PositionRow>(predicate: #Predicate { $0.time >= time }, sortBy: [SortDescriptor(\.time)]))
            ],
            "a node's metrics of a kind in a time": [
                explanation(
                    FetchDescriptor<TelemetryRow>(
                        predicate: #Predicate { $0.node == node && $0.kind == kind && $0.time >= time },
                        sortBy: [SortDescriptor(\.time)]))
            ],
            "metrics of a kind of all nodes in a time": [
                explanation(
                    FetchDescriptor<TelemetryRow>(
                        predicate: #Predicate { $0.kind == kind && $0.time >= time }, sortBy: [SortDescriptor(\.time)]))
            ],
            "a conversation, newest first": [
                explanation(
                    FetchDescriptor<MessageRow>(
                        predicate: #Predicate { $0.thread == thread }, sortBy: [SortDescriptor(\.time, order: .reverse)]))
            ],
            "all messages, newest first; what a node sent": [
                explanation(FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 20)),
                explanation(
                    FetchDescriptor<MessageRow>(predicate: #Predicate { $0.from == node }, sortBy: [SortDescriptor(\.time)])),
            ],
            "a message by packet id; the replies to it": [
                explanation(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.id == node })),
                explanation(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.replyID == node })),
            ],
            "waypoints that expire by a time": [
                explanation(FetchDescriptor<WaypointRow>(predicate: #Predicate { $0.expire <= time }))
            ],
            "trace routes that a node asked for; those that asked for a node": [
                explanation(FetchDescriptor<TraceRouteRow>(predicate: #Predicate { $0.from == node })),
                explanation(
                    FetchDescriptor<TraceRouteRow>(predicate: #Predicate { $0.to == node }, sortBy: [SortDescriptor(\.time)])),
            ],
            "whom a node hears; who hears a node": [
                explanation(FetchDescriptor<LinkRow>(predicate: #Predicate { $0.hearer == node })),
                explanation(FetchDescriptor<LinkRow>(predicate: #Predicate { $0.heard == node })),
            ],
            "messages whose text has something in it": [
                explanation(water), explanation(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.text.contains("erg") })),
                explanation(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.text.starts(with: "hu") })),
            ],
        ]
    }

    @Test func `S7: each documented question is asked of a ledger without a scan, without asking each row, and without sorting`()
        async throws
    {
        let lines = try Self.document
        let start = try #require(lines.firstIndex { $0.hasPrefix("| question |") }) + 2
        let documented = lines[start...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
        }
        let questions = Self.questions()
        #expect(documented.sorted() == questions.keys.sorted())
        let ledger = try await Ledger.temporary(options: Self.options)
        var simulation = MeshSimulation(SimulationOptions(seed: 13, nodes: 40))
        try await append(1_000, of: &simulation, to: ledger)
        try await ledger.catchUp()
        for (question, asked) in questions {
            for explain in asked {
                let explanation = try explain(ledger)
                // By time alone, an index in the wanted order is read as far as the limit.
                let isInOrder = explanation.access == .scan && !explanation.indexes.isEmpty
                #expect(explanation.access != .scan || isInOrder, "\(question): \(explanation)")
                let isByParts = explanation.access == .parts
                #expect(isByParts || !explanation.isFiltered && !explanation.isSorted, "\(question): \(explanation)")
            }
        }
        try await ledger.close()
    }

    @Test func `S7: the documented indexes are those that the rows declare`() throws {
        let documented = try Self.document.filter { $0.hasPrefix("| `") && $0.contains("Row` |") }
        func line<Row: QueryRow>(_ row: Row.Type) -> String {
            let key = row.columns.filter(\.isKey).map(\.name).joined(separator: ", ")
            let indexes = row.indexedTables.flatMap(\.indexes).map {
                $0.name.replacing(row.table + ".", with: "").replacing(",", with: ", ")
            }
            return "| `\(row)` | \(key) | \(indexes.joined(separator: "; ")) |"
        }
        #expect(
            documented == [
                line(NodeRow.self), line(PositionRow.self), line(TelemetryRow.self), line(MessageRow.self),
                line(WaypointRow.self),
                line(TraceRouteRow.self), line(LinkRow.self),
            ])
    }

    private func expect<Row: QueryRow>(_ descriptor: FetchDescriptor<Row>, _ index: String?) throws {
        var descriptor = descriptor
        descriptor.requiresIndex = true
        // Only where something was archived, each row is asked whether it was.
        descriptor.includesArchived = true
        let explanation = try QueryRun(descriptor).explanation
        #expect(
            explanation.indexes == (index.map { [$0] } ?? []) && !explanation.isFiltered && !explanation.isSorted,
            "\(explanation)")
    }

    @Test func `M28: a node, its latest position, a message, a trace route and a waypoint are found by their keys`() async throws
    {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger", options: Self.options)
        var simulation = MeshSimulation(SimulationOptions(seed: 12, nodes: 40))
        try await append(3_000, of: &simulation, to: ledger)
        try await ledger.catchUp()
        for row in try ledger.nodes() { #expect(try ledger.node(row.number) == row) }
        let positions = Dictionary(grouping: try ledger.positions(of: nil, RowQuery(newestFirst: false)), by: \.node)
        #expect(positions.count > 5)
        for (node, rows) in positions {
            #expect(try ledger.latestPosition(of: node) == rows.last)
            for row in rows { #expect(try ledger.position(of: node, at: row.time, sequence: row.sequence) == row) }
        }
        #expect(try !ledger.messages().isEmpty && !ledger.waypoints().isEmpty && !ledger.traceRoutes().isEmpty)
        for row in try ledger.messages() where row.id != 0 {
            let found = try ledger.message(id: row.id, from: row.from)
            #expect(found?.id == row.id && found?.from == row.from)
        }
        for row in try ledger.waypoints() { #expect(try ledger.waypoint(row.id) == row) }
        for row in try ledger.traceRoutes() { #expect(try ledger.traceRoute(id: row.id, from: row.from) == row) }
        #expect(try ledger.node(3) == nil && ledger.latestPosition(of: 3) == nil && ledger.message(id: 3, from: 3) == nil)
        try await ledger.close()
    }
}
