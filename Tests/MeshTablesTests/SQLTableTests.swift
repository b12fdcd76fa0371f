import MeshLedger
import MeshSimulator
import Meshtastic
import QueryKit
import TestKit
import Testing
import ViewQuery

@testable import MeshTables

/// SQL over the virtual tables of a simulated mesh.
struct SQLTableTests {
    /// The fixed seed has a message that failed, whose state needs a second stored field.
    @Test(.timeLimit(.minutes(3)), arguments: [995_696, UInt64.random(in: 1...999_999)])
    func `random SQL says of the virtual tables what it says of plain tables with the same rows`(seed: UInt64) async throws {
        let proofs = try await SQLProofs(packets: 300, seed: seed, isRecorded: seed != 995_696)
        #expect(proofs.tables.count > 12, "seed \(seed)")
        for failure in proofs.run(0..<300, seed: seed) { Issue.record("\(failure)") }
        try await proofs.ledger.close()
    }

    @Test(.timeLimit(.minutes(2))) func `each column alone has the values of the rows that Swift fetches`() async throws {
        let proofs = try await SQLProofs(packets: 1_500, seed: 11)
        let context = try TableContext(proofs.ledger)
        for name in proofs.ledger.rowNames {
            guard let rows = proofs.ledger.rows(of: name) else { continue }
            func check<Row: QueryRow>(_ rows: Row.Type) throws {
                let fetched = try proofs.ledger.fetch(FetchDescriptor<Row>())
                let columns = TableColumn<Row>.all(context)
                var batches: [ColumnBatch] = []
                let builder = BatchBuilder(columns) { batches.append($0) }
                for row in fetched { try builder.append(row) }
                try builder.finish()
                for (place, column) in columns.enumerated() {
                    let found = try proofs.rows("SELECT \"\(column.name)\" FROM \"\(name)\"").map { $0[0] }
                    #expect(found == batches.flatMap { $0.columns[place].values(column.schema.type) }, "\(name).\(column.name)")
                }
            }
            try check(rows)
        }
        try await proofs.ledger.close()
    }

    @Test func `what an index serves is not scanned`() async throws {
        let proofs = try await SQLProofs(packets: 300, seed: 3)
        let wanted = [
            "positions": ["node": "key: node=", "time": "index (time): time="],
            "nodes": [
                "node": "key: node=", "number": "key: number=", "last_heard": "index (last_heard): last_heard=",
                "long_name": "index (long_name): long_name=", "short_name": "index (short_name): short_name=",
            ],
            "messages": [
                "time": "index (time): time=", "from": "index (from, time): from=", "id": "index (id): id=",
            ],
            "telemetry": ["node": "key: node=", "kind": "index (kind, time): kind="],
            "telemetry_device": ["node": "key: node="],
            "events": ["sequence": "events: sequence=", "arrival": "events: arrival="],
            "packets": [
                "from": "events: from=", "to": "events: to=", "id": "events: id=", "first_sequence": "events: first_sequence=",
                "time": "events: time=", "arrival": "events: arrival=", "port": "events: port=", "channel": "events: channel=",
            ],
            "receptions": [
                "from": "events: from=", "sequence": "events: sequence=", "arrival": "events: arrival=",
                "gateway": "events: gateway=",
            ],
        ]
        for (table, columns) in wanted {
            for (column, plan) in columns {
                let text = "EXPLAIN QUERY PLAN SELECT * FROM \(table) WHERE \"\(column)\" = ?"
                let detail = try proofs.rows(text, [.integer(1)]).flatMap { $0 }.compactMap { value -> String? in
                    if case .text(let text) = value { text } else { nil }
                }
                #expect(detail.contains { $0.hasSuffix(":" + plan) }, "\(table).\(column): \(detail)")
            }
        }
        func plan(_ text: String) throws -> String { try proofs.rows("EXPLAIN QUERY PLAN " + text).map { "\($0)" }.joined() }
        let newest = try plan("SELECT * FROM positions WHERE node = '!19025c00' AND time >= 5 ORDER BY time DESC LIMIT 100")
        #expect(newest.contains("key: node= AND time>=, reversed") && !newest.contains("B-TREE"), "\(newest)")
        let several = try plan("SELECT * FROM nodes WHERE node IN ('!1', '!2') ORDER BY number")
        #expect(several.contains("key: node IN") && !several.contains("B-TREE"), "\(several)")
        let either = try plan("SELECT * FROM nodes WHERE number = 5 OR long_name = 'x'")
        #expect(either.contains("MULTI-INDEX OR") && either.contains("index (long_name)"), "\(either)")
        #expect(try !plan("SELECT * FROM events ORDER BY sequence DESC LIMIT 1").contains("B-TREE"))
        #expect(try plan("SELECT * FROM positions WHERE altitude > 5").contains("key\""))
        let day = try plan("SELECT * FROM packets WHERE time >= 5 AND time < 6 AND port = 'POSITION_APP'")
        #expect(day.contains("events: time>= AND time< AND port="), "\(day)")
        let senders = try plan("SELECT * FROM packets WHERE \"from\" IN ('!1', '!2')")
        #expect(senders.contains("events: from="), "\(senders)")
        try await proofs.ledger.close()
    }

    /// So that a statement decodes only what it needs: a property that the row does not declare would need all of it.
    @Test func `the properties that a column of a table is made of are declared by its row`() async throws {
        let proofs = try await SQLProofs(packets: 10, seed: 3)
        func check<Row: QueryRow>(_ rows: Row.Type) {
            for column in TableColumn<Row>.all(TableContext()) where !column.properties.isEmpty {
                #expect(column.needed != nil, "\(Row.table).\(column.name)")
            }
        }
        for name in proofs.ledger.rowNames { if let rows = proofs.ledger.rows(of: name) { check(rows) } }
        let positions = TableColumn<PositionRow>.all(TableContext())
        #expect(positions.allSatisfy { $0.needed != nil })
        #expect(positions.filter { $0.needed?.count != 1 }.map(\.name) == ["snr"])
        try await proofs.ledger.close()
    }

    @Test func `packets by time, port and channel are the same rows, without decoding the others`() async throws {
        let proofs = try await SQLProofs(packets: 1_000, seed: 21, isRecorded: true)
        func check(_ condition: String, of table: String = "packets", least: Int = 1) throws {
            // The second one hides the columns from the planner.
            let columns = ["time", "arrival", "port", "channel", "gateway", "\"to\""]
            let hidden = columns.reduce(condition) { $0.replacing($1 + " ", with: "+" + $1 + " ") }
            let order = table == "packets" ? "first_sequence" : "sequence"
            let found = try proofs.rows("SELECT * FROM \(table) WHERE \(condition) ORDER BY \(order)")
            let all = try proofs.rows("SELECT * FROM \(table) WHERE \(hidden) ORDER BY \(order)")
            #expect(found == all && found.count >= least, "\(table): \(condition): \(found.count) of \(all.count)")
        }
        guard case .real(let low)? = try proofs.rows("SELECT min(time) FROM packets").first?.first,
            case .real(let high)? = try proofs.rows("SELECT max(time) FROM packets").first?.first
        else { return #expect(Bool(false), "no times") }
        for share in [0.0, 0.3, 0.9] {
            let (start, end) = (low + (high - low) * share, low + (high - low) * (share + 0.1))
            try check("time >= \(start) AND time < \(end)")
            try check("time > \(start)")
            try check("time <= \(end) AND port = 'POSITION_APP'")
        }
        let ends = try proofs.rows("SELECT min(arrival), max(arrival) FROM packets")
        if case .real(let first) = ends[0][0], case .real(let last) = ends[0][1] {
            for table in ["packets", "receptions"] { try check("arrival BETWEEN \(first) AND \((first + last) / 2)", of: table) }
        }
        for port in ["TEXT_MESSAGE_APP", "NODEINFO_APP", "unreadable", "nope"] { try check("port = '\(port)'", least: 0) }
        for row in try proofs.rows("SELECT DISTINCT channel FROM packets WHERE channel IS NOT NULL") {
            if case .text(let channel)? = row.first { try check("channel = '\(channel)' AND port = 'POSITION_APP'", least: 0) }
        }
        for row in try proofs.rows("SELECT DISTINCT gateway FROM receptions LIMIT 4") {
            if case .text(let gateway)? = row.first { try check("gateway = '\(gateway)'", of: "receptions") }
        }
        try check("\"to\" = '^all'")
        try await proofs.ledger.close()
    }

    /// SQLite does not compare them itself.
    @Test func `only an id as a column writes it equals it`() async throws {
        let proofs = try await SQLProofs(packets: 400, seed: 8)
        for (table, column) in [
            ("nodes", "node"), ("positions", "node"), ("messages", "from"), ("messages", "to"), ("links", "hearer"),
        ] {
            let known = try proofs.rows("SELECT DISTINCT \"\(column)\" FROM \(table) ORDER BY 1 LIMIT 3").flatMap { $0 }
            var constants = [
                "NULL", "5", "-1", "4294967295", "0.5", "''", "'!'", "'!0'", "'!00000000'", "'!ffffffff'", "'^all'", "'!x'",
            ]
            for case .text(let id) in known {
                let digits = id.dropFirst()
                constants += ["'\(id)'", "'\(id.uppercased())'", "'\(id) '", "'\(digits)'", "x'2131'", "CAST('\(id)' AS BLOB)"]
                if let number = UInt32(digits, radix: 16) {
                    constants += ["\(number)", "'\(number)'", "'!\(String(number, radix: 16))'"]
                }
            }
            for constant in constants {
                func count(_ column: String) throws -> [[SQLValue]] {
                    try proofs.rows("SELECT count(*) FROM \(table) WHERE \(column) = \(constant)")
                }
                #expect(try count("\"\(column)\"") == count("+\"\(column)\""), "\(table).\(column) = \(constant)")
            }
            #expect(
                try proofs.rows("SELECT count(*) FROM \(table) WHERE \"\(column)\" = ?", known.prefix(1).map(\.self))[0][0]
                    != .integer(0))
        }
        try await proofs.ledger.close()
    }

    @Test func `a statement reads as of an event or a time, and says up to which event`() async throws {
        let proofs = try await SQLProofs(packets: 600, seed: 5)
        let head = Int64(proofs.ledger.log.head.rawValue)
        let now = try proofs.rows("SELECT count(*), max(checkpoint) FROM positions")
        let then = try proofs.rows("SELECT count(*), max(checkpoint), max(as_of) FROM positions WHERE as_of = 300")
        #expect(now[0][1] == .integer(head))
        #expect(then[0][1] == .integer(300) && then[0][2] == .integer(300))
        let past = try proofs.ledger.asOf(.sequence(300))
        #expect(then[0][0] == .integer(Int64(try past.fetchCount(FetchDescriptor<PositionRow>()))))
        try await past.close()
        #expect(try proofs.rows("SELECT count(*) FROM events WHERE as_of = 300") == [[.integer(300)]])
        // Two moments in one statement, and one that comes from another table.
        let both = try proofs.rows(
            "SELECT (SELECT count(*) FROM nodes WHERE as_of = 1), (SELECT count(*) FROM nodes WHERE as_of = '1999-01-01'), count(*) FROM nodes"
        )
        #expect(both == [[.integer(1), .integer(0), .integer(12)]])
        let joined = try proofs.rows(
            "SELECT t.value, count(*) FROM json_each('[1,600]') t JOIN events e ON e.as_of = t.value GROUP BY 1")
        #expect(joined == [[.integer(1), .integer(1)], [.integer(600), .integer(600)]])
        for wrong in ["'soon'", "-1", "99999999", "x'00'", "100.5", "1e300"] {
            #expect(throws: (any Error).self) { try proofs.rows("SELECT count(*) FROM nodes WHERE as_of = \(wrong)") }
        }
        #expect(try proofs.rows("SELECT count(*) FROM nodes WHERE as_of IS NULL AND as_of = NULL") == [[.integer(0)]])
        func count(_ condition: String, _ values: SQLValue...) throws -> [[SQLValue]] {
            try proofs.rows("SELECT count(*) FROM events WHERE \(condition)", values)
        }
        #expect(try count("as_of IS 300") == [[.integer(300)]] && count("as_of IS ?", .integer(300)) == [[.integer(300)]])
        #expect(try count("as_of IS ?", .null) == [[.integer(head)]] && count("as_of IS NULL") == [[.integer(head)]])
        #expect(try count("as_of IN (1, 300)") == [[.integer(301)]] && count("as_of = 1 OR as_of = 2") == [[.integer(3)]])
        for wrong in ["> 300", "<> 300", "BETWEEN 1 AND 300", "LIKE '3%'"] {
            #expect(throws: (any Error).self, "\(wrong)") { try count("as_of \(wrong)") }
        }
        try await proofs.ledger.close()
    }

    @Test func `functions turn ids, measure distances and open events`() async throws {
        let proofs = try await SQLProofs(packets: 200, seed: 8)
        let ids = try proofs.rows(
            "SELECT node_id(419585024), node_id('!19025C00'), node_number('!19025c00'), node_id('x'), node_id(NULL)")
        #expect(ids == [[.text("!19025c00"), .text("!19025c00"), .integer(0x1902_5c00), .null, .null]])
        guard case .real(let meters)? = try proofs.rows("SELECT haversine(50.0, 8.0, 51.0, 8.0)").first?.first else {
            Issue.record("no distance")
            return
        }
        #expect(abs(meters - 111_195) < 1)
        #expect(try proofs.rows("SELECT haversine('a', 1, 2, 3), haversine(0, 0, 9e999, 0)") == [[.null, .null]])
        let opened = try proofs.rows(
            "SELECT count(*) FROM events WHERE decode(payload_b64, encoding) ->> 'port' = 'POSITION_APP' AND decode(payload_b64) IS NOT NULL"
        )
        #expect(opened != [[.integer(0)]])
        #expect(
            try proofs.rows("SELECT decode(NULL), decode('%'), decode(x'ff'), decode(x'00', 'gap')") == [
                [.null, .null, .null, .null]
            ])
        try await proofs.ledger.close()
    }

    @Test func `words of messages are found by MATCH`() async throws {
        let proofs = try await SQLProofs(packets: 3_000, seed: 8)
        guard case .text(let text)? = try proofs.rows("SELECT text FROM messages WHERE length(text) > 8").first?.first else {
            Issue.record("no message")
            return
        }
        let word = String(text.split(separator: " ")[0])
        let wanted = try proofs.ledger.search(TextQuery(word, in: \MessageRow.text, fetchLimit: nil)).map(\.row.text)
        for place in ["text", "messages"] {
            let found = try proofs.rows("SELECT text FROM messages WHERE \(place) MATCH ?", [.text(word)])
            #expect(found == wanted.map { [.text($0)] }, "\(place)")
        }
        let few = try proofs.rows("SELECT count(*) FROM messages WHERE text MATCH ? AND time < 0", [.text(word)])
        #expect(few == [[.integer(0)]])
        #expect(try proofs.rows("SELECT count(*) FROM messages WHERE text MATCH ''") == [[.integer(0)]])
        #expect(throws: (any Error).self) { try proofs.rows("SELECT * FROM messages WHERE channel MATCH 'x'") }
        try await proofs.ledger.close()
    }

    @Test func `what cannot be, is refused or finds nothing, and nothing traps`() async throws {
        let proofs = try await SQLProofs(packets: 100, seed: 8)
        for text in [
            "SELECT", "SELECT nope FROM nodes", "SELECT * FROM nope", "DELETE FROM nodes", "INSERT INTO nodes(node) VALUES ('x')",
            "UPDATE positions SET time = 1", "DROP TABLE temp.nodes", "CREATE TABLE t(x)",
            "CREATE VIRTUAL TABLE temp.v USING meshledger('/nowhere', 'nodes')",
            "SELECT meshledger_open(5)", "SELECT meshledger_open('/nowhere')", "SELECT load_extension('x')",
            "SELECT 1 WHERE ? = 1",
            "ATTACH '/tmp/x.db' AS y; CREATE TABLE y.t(x)", "SELECT haversine(1)", "\0",
        ] {
            #expect(throws: (any Error).self, "\(text)") { try proofs.rows(text) }
        }
        for text in [
            "", ";", "-- nothing", "SELECT * FROM nodes WHERE node = x''", "SELECT * FROM nodes WHERE number = 1e300",
            "SELECT * FROM nodes WHERE number > -9223372036854775808 AND number < 9223372036854775807 AND 0",
            "SELECT * FROM nodes WHERE number IN (NULL, 'x', 1.5, x'01')", "SELECT * FROM events WHERE sequence < 0",
            "SELECT * FROM events WHERE sequence = 9223372036854775807",
            "SELECT * FROM events WHERE sequence > 1e308 OR arrival < -1e308",
            "SELECT * FROM packets WHERE id = -1", "SELECT * FROM packets WHERE \"from\" = 'a''b'",
            "SELECT * FROM positions LIMIT 0",
        ] {
            #expect(try proofs.rows(text).isEmpty, "\(text)")
        }
        #expect(try proofs.rows("SELECT count(*) FROM nodes WHERE long_name = ?", [.text("' OR 1=1 --")]) == [[.integer(0)]])
        try await proofs.ledger.close()
    }
}

extension ColumnArray {
    /// What SQL says of them.
    fileprivate func values(_ type: ColumnType) -> [SQLValue] {
        (0..<count).map { index in
            guard isValid(index) else { return .null }
            switch data {
            case .bool(let bits): return .integer(Int64(bits[index >> 3] >> UInt8(index & 7) & 1))
            case .int32(let values): return .integer(Int64(values[index]))
            case .uint32(let values): return .integer(Int64(values[index]))
            case .int64(let values): return type == .microseconds ? .real(Double(values[index]) / 1e6) : .integer(values[index])
            case .uint64(let values): return Int64(exactly: values[index]).map { .integer($0) } ?? .null
            case .float32(let values): return .real(Double(values[index].description) ?? 0)
            case .float64(let values): return .real(values[index])
            case .bytes(let offsets, let bytes):
                let range = Int(offsets[index])..<Int(offsets[index + 1])
                return type == .binary ? .bytes(Array(bytes[range])) : .text(String(decoding: bytes[range], as: UTF8.self))
            case .dictionary(let indexes, let dictionary):
                return .text(String(decoding: dictionary.text(Int(indexes[index])), as: UTF8.self))
            case .list(let offsets, .uint64(let values)):
                let list = values[Int(offsets[index])..<Int(offsets[index + 1])]
                return .text("[" + list.map(String.init).joined(separator: ",") + "]")
            case .list(let offsets, .bytes(let ends, let bytes)):
                let list = (Int(offsets[index])..<Int(offsets[index + 1])).map {
                    JSONValue.string(String(decoding: bytes[Int(ends[$0])..<Int(ends[$0 + 1])], as: UTF8.self)).description
                }
                return .text("[" + list.joined(separator: ",") + "]")
            case .list: return .null
            }
        }
    }
}
