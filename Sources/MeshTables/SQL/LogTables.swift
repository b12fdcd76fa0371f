internal import CSQLiteExtension
internal import EventLog
internal import Foundation
internal import MeshLedger
internal import Meshtastic
internal import ViewQuery

/// A table of the log, whose rows are found by the numbers of events.
class LogTable: PlannedTable {
    /// Names of columns by which rows are found, each with what it is to the planner.
    enum Finder { case sequence, arrival, sender, packetID }

    let finders: [Int: Finder]

    init(_ session: SQLSession, _ schema: TableSchema, path: String?, finders: [String: Finder]) {
        let declaration = TableDeclaration(schema.name, schema.columns, hidden: [.asOf, .checkpoint], hasRowID: true)
        var found: [Int: Finder] = [:]
        for (place, column) in schema.columns.enumerated() { found[place] = finders[column.name] }
        self.finders = found
        super.init(session, declaration, path: path)
    }

    /// Whether rows come in the order of their sequence, in both directions.
    var isOrdered: Bool { false }

    override func choose(_ question: TableQuestion) throws -> TableAnswer? {
        guard var answer = try super.choose(question) else { return nil }
        let total = Double(try session.ledger(at: path).log.head.rawValue)
        var (plan, share, notes) = (plan(answer.number), 1.0, [String]())
        for (index, constraint) in question.constraints.enumerated() {
            // The row's number is that of its event.
            let finder = constraint.column < 0 ? .sequence : finders[constraint.column]
            guard constraint.isUsable, constraint.isBinary, let finder, let test = Self.test(constraint.operation) else {
                continue
            }
            if finder == .sender || finder == .packetID { guard test == .equal, !constraint.isList else { continue } }
            guard !(constraint.isList && finder == .arrival) else { continue }
            plan.uses.append(.bound(place: 0, column: constraint.column, test: test))
            answer.uses.append(TableAnswer.Use(constraint: index, takesAll: constraint.isList, isExact: false))
            notes.append(table.name(constraint.column) + (constraint.isList ? " IN" : test.rawValue))
            switch finder {
            case .sequence: share *= test == .equal ? 1e-6 : 0.25
            case .arrival: share *= test == .equal ? 1e-4 : 0.25
            case .sender: share *= 0.01
            case .packetID: share *= 1e-4
            }
        }
        (answer.isOrdered, plan.isReversed) = order(question)
        answer.rows = max(1, total * share)
        answer.cost = 20 + answer.rows * 20
        answer.text =
            (["events" + (notes.isEmpty ? "" : ": " + notes.joined(separator: " AND "))] + [answer.text].filter { !$0.isEmpty })
            .joined(separator: ", ") + (plan.isReversed ? ", reversed" : "")
        answer.number = number(of: plan)
        return answer
    }

    private func order(_ question: TableQuestion) -> (isOrdered: Bool, isReversed: Bool) {
        guard isOrdered, let term = question.order.first else { return (false, false) }
        guard term.column < 0 || finders[term.column] == .sequence else { return (false, false) }
        return (true, term.isDescending)
    }

    private static func test(_ operation: UInt8) -> ColumnTest? {
        switch Int32(operation) {
        case SQLITE_INDEX_CONSTRAINT_EQ: .equal
        case SQLITE_INDEX_CONSTRAINT_GT: .greater
        case SQLITE_INDEX_CONSTRAINT_GE: .greaterOrEqual
        case SQLITE_INDEX_CONSTRAINT_LT: .less
        case SQLITE_INDEX_CONSTRAINT_LE: .lessOrEqual
        default: nil
        }
    }
}

/// What bounds a walk through the log.
struct LogBounds {
    /// The events that may match, in ascending order, without overlaps.
    var runs: [ClosedRange<UInt64>]
    var sender: UInt32?
    var packetID: UInt32?

    init(_ table: LogTable, _ plan: TablePlan, _ values: [SQLArgument], _ ledger: Ledger, _ head: UInt64) throws {
        let first = ledger.log.first.rawValue
        runs = first <= head ? [first...head] : []
        var (since, until): (Timestamp?, Timestamp?) = (nil, nil)
        for (use, value) in zip(plan.uses, values) {
            guard case .bound(_, let column, let test) = use else { continue }
            let finder = column < 0 ? .sequence : table.finders[column]
            guard case .value(let constant) = value else {
                if case .list(let list) = value, finder == .sequence { narrow(toAnyOf: list) }
                continue
            }
            switch finder {
            case .sequence: narrow(test, constant)
            case .arrival: Self.narrow(test, constant, &since, &until)
            case .sender:
                guard case .text(let text) = constant else { continue }
                sender = NodeID.parse(text)
                if sender == nil { runs = [] }
            case .packetID:
                guard case .integer(let number) = constant else { continue }
                packetID = UInt32(exactly: number)
                if packetID == nil { runs = [] }
            case nil: continue
            }
        }
        guard since != nil || until != nil, !runs.isEmpty else { return }
        let arrived = try ledger.log.runs(arrivedFrom: since, before: until)
        runs = runs.flatMap { run in
            arrived.compactMap { other in
                let (low, high) = (max(run.lowerBound, other.lowerBound.rawValue), min(run.upperBound, other.upperBound.rawValue))
                return low <= high ? low...high : nil
            }
        }
    }

    private mutating func narrow(_ test: ColumnTest, _ constant: SQLConstant) {
        let number: Double
        switch constant {
        case .integer(let value): number = Double(value)
        case .real(let value): number = value
        case .null:
            runs = []
            return
        case .text, .bytes: return
        }
        // Beyond these, doubles are too coarse; there are no such events.
        guard number.magnitude < 0x1p52 else { return }
        let (low, high): (Double, Double) =
            switch test {
            case .equal: (number.rounded(.up), number.rounded(.down))
            case .less, .lessOrEqual: (0, number.rounded(.down))
            case .greater, .greaterOrEqual: (number.rounded(.up), 0x1p53)
            }
        guard low <= high, high >= 0 else {
            runs = []
            return
        }
        cut(to: UInt64(max(low, 0))...UInt64(high))
    }

    private mutating func cut(to range: ClosedRange<UInt64>) {
        runs = runs.compactMap { run in
            run.overlaps(range) ? max(run.lowerBound, range.lowerBound)...min(run.upperBound, range.upperBound) : nil
        }
    }

    private mutating func narrow(toAnyOf list: [SQLConstant]) {
        var wanted: Set<UInt64> = []
        for constant in list {
            switch constant {
            case .integer(let number): if let number = UInt64(exactly: number) { wanted.insert(number) }
            case .real(let number): if let number = UInt64(exactly: number) { wanted.insert(number) }
            case .null: continue
            // A text may look like a number.
            case .text, .bytes: return
            }
        }
        let before = runs
        runs = wanted.sorted().filter { number in before.contains { $0.contains(number) } }.map { $0...$0 }
    }

    /// Seconds of a double are as exact as microseconds; a microsecond more is looked at on both sides.
    private static func narrow(_ test: ColumnTest, _ constant: SQLConstant, _ since: inout Timestamp?, _ until: inout Timestamp?)
    {
        let seconds: Double
        switch constant {
        case .integer(let value): seconds = Double(value)
        case .real(let value): seconds = value
        case .text, .bytes, .null: return
        }
        guard seconds.isFinite, seconds.magnitude < 1e11 else { return }
        let microseconds = Int64((seconds * 1e6).rounded())
        if test == .equal || test == .greater || test == .greaterOrEqual {
            let low = Timestamp(microseconds: microseconds - 1)
            since = since.map { max($0, low) } ?? low
        }
        if test == .equal || test == .less || test == .lessOrEqual {
            let high = Timestamp(microseconds: microseconds + 2)
            until = until.map { min($0, high) } ?? high
        }
    }
}

/// The events of the log.
final class EventTable: LogTable {
    init(_ session: SQLSession, path: String?) {
        super.init(session, EventRecord.tableSchema(), path: path, finders: ["sequence": .sequence, "arrival": .arrival])
    }

    override var isOrdered: Bool { true }
    override func cursor() -> VirtualCursor { EventTableCursor(self) }
}

private final class EventTableCursor: BatchCursor {
    private let events: EventTable
    private var columns: RowColumns<EventRecord>
    /// The next one last.
    private var runs: [ClosedRange<UInt64>] = []
    private var names: [UInt32: String] = [:]

    init(_ events: EventTable) {
        self.events = events
        columns = RowColumns(EventRecord.tableColumns(TableContext()))
        super.init(events)
    }

    override func begin(_ values: [SQLArgument], _ ledger: Ledger, _ snapshot: SQLSnapshot) throws {
        if ledger.countsOnlyHeard {
            throw SQLFailure(
                description:
                    "some events up to that time were heard later, so events and packets are read as of an event's number only")
        }
        runs = try LogBounds(events, plan, values, ledger, snapshot.head).runs
        if !plan.isReversed { runs.reverse() }
        names = Dictionary(try ledger.log.sources().map { ($0.id.rawValue, $0.name) }) { first, _ in first }
    }

    override func read(_ most: Int) throws {
        columns.removeAll()
        while let run = runs.last, columns.rows.isEmpty, let ledger {
            let readsPayload = plan.reads(events.table.columns.firstIndex { $0.name == "payload_b64" } ?? 63)
            let found = try ledger.log.events(
                in: EventSequence(run.lowerBound)...EventSequence(run.upperBound), limit: most, reversed: plan.isReversed)
            for event in found {
                columns.rows.append(
                    EventRecord(
                        event.header, source: names[event.header.source.rawValue] ?? String(event.header.source.rawValue),
                        encoding: event.header.encoding.exportName ?? String(event.header.encoding.rawValue),
                        payload: readsPayload ? Data(event.payload).base64EncodedString() : ""))
            }
            runs.removeLast()
            guard let end = found.last?.sequence.rawValue, found.count == most else { continue }
            if plan.isReversed {
                if end > run.lowerBound { runs.append(run.lowerBound...end - 1) }
            } else if end < run.upperBound {
                runs.append(end + 1...run.upperBound)
            }
        }
        (count, isComplete) = (columns.rows.count, runs.isEmpty)
    }

    override func writeValue(_ column: Int, to result: SQLResult) throws { columns.write(column, index, to: result) }
    override var rowID: Int64 {
        columns.rows.indices.contains(index) ? Int64(clamping: columns.rows[index].header.sequence.rawValue) : 0
    }
}

/// The packets of the log, or their receptions.
final class PacketTable<Row: TableRow>: LogTable {
    let rows: (PacketRow) -> [Row]
    let number: (Row) -> UInt64

    init(
        _ session: SQLSession, path: String?, _ finders: [String: Finder], rows: @escaping (PacketRow) -> [Row],
        number: @escaping (Row) -> UInt64
    ) {
        (self.rows, self.number) = (rows, number)
        super.init(session, Row.tableSchema(), path: path, finders: finders)
    }

    override func cursor() -> VirtualCursor { PacketTableCursor(self) }
}

private final class PacketTableCursor<Row: TableRow>: BatchCursor {
    private let packets: PacketTable<Row>
    private var columns: RowColumns<Row>
    private var range: ClosedRange<EventSequence>?
    private var wanted: [ClosedRange<UInt64>] = []
    private var selection = EventSelection()
    private var passed = 0
    private var size = 64
    /// Each reading walks over what was passed before.
    private let mostAtOnce = 1 << 16

    init(_ packets: PacketTable<Row>) {
        self.packets = packets
        columns = RowColumns(Row.tableColumns(TableContext()))
        super.init(packets)
    }

    override func begin(_ values: [SQLArgument], _ ledger: Ledger, _ snapshot: SQLSnapshot) throws {
        if ledger.countsOnlyHeard {
            throw SQLFailure(
                description:
                    "some events up to that time were heard later, so events and packets are read as of an event's number only")
        }
        let bounds = try LogBounds(packets, plan, values, ledger, snapshot.head)
        columns = RowColumns(Row.tableColumns(try TableContext(ledger)))
        selection = EventSelection(node: bounds.sender, roles: bounds.sender == nil ? .any : .sender, packetID: bounds.packetID)
        wanted = bounds.runs
        (passed, size) = (0, 64)
        // A packet whose first reception matches may have later ones, which belong to it.
        range = bounds.runs.first.flatMap { first in
            snapshot.head >= first.lowerBound ? EventSequence(ledger.log.first.rawValue)...EventSequence(snapshot.head) : nil
        }
    }

    override func read(_ most: Int) throws {
        columns.removeAll()
        guard let range, let ledger else {
            (count, isComplete) = (0, true)
            return
        }
        let found = try ledger.packets(selection, in: range, limit: size, offset: passed)
        passed += found.count
        for packet in found {
            for row in packets.rows(packet) where wanted.contains(where: { $0.contains(packets.number(row)) }) {
                columns.rows.append(row)
            }
        }
        (count, isComplete) = (columns.rows.count, found.count < size)
        size = min(size * 4, mostAtOnce)
    }

    override func writeValue(_ column: Int, to result: SQLResult) throws { columns.write(column, index, to: result) }
    override var rowID: Int64 { columns.rows.indices.contains(index) ? Int64(clamping: packets.number(columns.rows[index])) : 0 }
}
