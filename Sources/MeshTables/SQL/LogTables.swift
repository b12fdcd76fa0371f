internal import CSQLiteExtension
internal import EventLog
internal import Foundation
internal import MeshLedger
internal import Meshtastic
internal import ViewQuery

/// A table of the log, whose rows are found by event number.
class LogTable: PlannedTable {
    /// What the planner knows of a column by which rows are found.
    enum Finder {
        case sequence, arrival, heard
        case sender, addressee, packetID, gateway, port, channel

        /// Whether ranges can be found, not only single values.
        var isOrdered: Bool { self == .sequence || self == .arrival || self == .heard }

        /// The approximate share of rows that pass a test.
        func share(_ test: ColumnTest) -> Double {
            switch self {
            case .sequence: test == .equal ? 1e-6 : 0.25
            case .arrival, .heard: test == .equal ? 1e-4 : 0.25
            case .packetID: 1e-4
            case .sender, .addressee: 0.01
            case .gateway: 0.05
            case .port, .channel: 0.1
            }
        }
    }

    let finders: [Int: Finder]

    init(_ session: SQLSession, _ schema: TableSchema, path: String?, finders: [String: Finder]) {
        let declaration = TableDeclaration(schema.name, schema.columns, hidden: [.asOf, .checkpoint], hasRowID: true)
        var found: [Int: Finder] = [:]
        for (place, column) in schema.columns.enumerated() { found[place] = finders[column.name] }
        self.finders = found
        super.init(session, declaration, path: path)
    }

    /// Whether rows come in the order of their sequences, in both directions.
    var isOrdered: Bool { false }
    /// The view that has the rows; nil for the log alone.
    var view: String? { nil }
    /// What finds a row by its number.
    var rowFinder: Finder? { .sequence }
    override var finds: [String] { finders.keys.sorted().map { "events: \(table.name($0))" } }
    /// The first event that rows may be of.
    func first(_ ledger: Ledger) -> UInt64 { ledger.log.first.rawValue }

    override func choose(_ question: TableQuestion) throws -> TableAnswer? {
        guard var answer = try super.choose(question) else { return nil }
        let total = Double(try session.ledger(at: path).log.head.rawValue)
        var (plan, share, notes) = (plan(answer.number), 1.0, [String]())
        for (index, constraint) in question.constraints.enumerated() {
            let finder = constraint.column < 0 ? rowFinder : finders[constraint.column]
            guard constraint.isUsable, constraint.isBinary, let finder, let test = Self.test(constraint.operation) else {
                continue
            }
            guard test == .equal || finder.isOrdered else { continue }
            // The events of an IN are read together; for anything else, SQLite passes one value after the other.
            let takesAll = constraint.isList && finder == .sequence
            plan.uses.append(.bound(place: 0, column: constraint.column, test: test))
            answer.uses.append(TableAnswer.Use(constraint: index, takesAll: takesAll, isExact: false))
            notes.append(table.name(constraint.column) + (takesAll ? " IN" : test.rawValue))
            share *= finder.share(test)
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
    private(set) var runs: [ClosedRange<UInt64>]
    private(set) var selection = EventSelection()
    /// When the mesh heard it, from the first time on and before the second one.
    private(set) var heard: (since: Timestamp?, until: Timestamp?) = (nil, nil)

    init(_ table: LogTable, _ plan: TablePlan, _ values: [SQLArgument], _ ledger: Ledger, _ head: UInt64) throws {
        let first = table.first(ledger)
        runs = first <= head ? [first...head] : []
        var arrived: (since: Timestamp?, until: Timestamp?) = (nil, nil)
        for (use, value) in zip(plan.uses, values) {
            guard case .bound(_, let column, let test) = use else { continue }
            guard let finder = column < 0 ? table.rowFinder : table.finders[column] else { continue }
            guard case .value(let constant) = value else {
                if case .list(let list) = value, finder == .sequence { narrow(toAnyOf: list) }
                continue
            }
            // A comparison with null matches nothing.
            if constant == .null { runs = [] }
            switch finder {
            case .sequence: narrow(test, constant)
            case .arrival: Self.narrow(test, constant, &arrived)
            case .heard: Self.narrow(test, constant, &heard)
            case .sender, .addressee, .packetID, .gateway, .port, .channel: select(finder, constant)
            }
        }
        guard arrived.since != nil || arrived.until != nil, !runs.isEmpty else { return }
        cut(to: try ledger.log.runs(arrivedFrom: arrived.since, before: arrived.until))
    }

    /// The only event that may match, if there is just one.
    var single: UInt64? { runs.count == 1 && runs[0].lowerBound == runs[0].upperBound ? runs[0].lowerBound : nil }

    private mutating func select(_ finder: LogTable.Finder, _ constant: SQLConstant) {
        switch (finder, constant) {
        case (.sender, .text(let text)), (.addressee, .text(let text)), (.gateway, .text(let text)):
            guard let node = NodeID.parse(text) else { return runs = [] }
            // The index contains only nodes, and every sender.
            if node == NodeID.broadcast || node == 0, finder != .sender { return }
            if finder == .gateway {
                selection.gateway = node
            } else if finder == .sender || selection.node == nil {
                // The index answers one of the two; SQLite tests the other.
                (selection.node, selection.roles) = (node, finder == .sender ? .sender : .addressee)
            }
        case (.packetID, .integer(let number)):
            guard let id = UInt32(exactly: number) else { return runs = [] }
            selection.packetID = id
        case (.port, .text(let text)):
            // The index by port leaves out unreadable packets and those without a known port.
            if let port = FieldTable.port(named: text) ?? UInt32(text), port > 0 { selection.port = port }
        case (.channel, .text(let text)): selection.channel = text
        default: return
        }
    }

    /// The parts of the runs that lie within the others.
    mutating func cut(to others: [ClosedRange<EventSequence>]) {
        runs = runs.flatMap { run in
            others.compactMap { other in
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
        case .text, .bytes, .null: return
        }
        // Doubles are too coarse beyond these numbers, which no event has.
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

    /// A double holds seconds to about a microsecond, so one more microsecond is searched on each side.
    private static func narrow(
        _ test: ColumnTest, _ constant: SQLConstant, _ times: inout (since: Timestamp?, until: Timestamp?)
    ) {
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
            times.since = times.since.map { max($0, low) } ?? low
        }
        if test == .equal || test == .less || test == .lessOrEqual {
            let high = Timestamp(microseconds: microseconds + 2)
            times.until = times.until.map { min($0, high) } ?? high
        }
    }
}

extension EventSelection {
    /// Of packets without an id or a sender there are many, which the index does not tell apart.
    fileprivate mutating func narrow(to packet: PacketName) {
        guard packet.id != 0, packet.from != 0, packet.from != NodeID.broadcast else { return }
        if packetID == nil { packetID = packet.id }
        if node == nil { (node, roles) = (packet.from, .sender) }
    }
}

/// A walk through rows made from events.
class LogCursor<Row>: BatchCursor {
    let log: LogTable
    var columns: RowColumns<Row>
    private(set) var kept: KeptEvents?

    init(_ log: LogTable, _ columns: [TableColumn<Row>]) {
        self.log = log
        self.columns = RowColumns(columns)
        super.init(log)
    }

    final override func begin(_ values: [SQLArgument], _ ledger: Ledger, _ snapshot: SQLSnapshot) throws {
        if ledger.countsOnlyHeard {
            throw SQLFailure(
                description:
                    "some events up to that time were heard later, so events and packets are read as of an event's number only")
        }
        let head = try head(snapshot, ledger)
        kept = KeptEvents(of: ledger)
        try begin(try LogBounds(log, plan, values, ledger, head), ledger, head)
    }

    /// The last event that a statement reads: none that the view gets while the statement runs.
    private func head(_ snapshot: SQLSnapshot, _ ledger: Ledger) throws -> UInt64 {
        guard let view = log.view, ledger.asOfSequence == nil else { return snapshot.head }
        return min(snapshot.head, try snapshot.checkpoint(of: view))
    }

    func begin(_ bounds: LogBounds, _ ledger: Ledger, _ head: UInt64) throws {}

    final override func loadColumn(_ column: Int) -> LoadedColumn? { columns.load(column) }

    func number(_ row: Row) -> UInt64 { 0 }

    final override var rowID: Int64 { columns.rows.indices.contains(index) ? Int64(clamping: number(columns.rows[index])) : 0 }
}

/// The events of the log.
final class EventTable: LogTable {
    init(_ session: SQLSession, path: String?) {
        super.init(session, EventRecord.tableSchema(), path: path, finders: ["sequence": .sequence, "arrival": .arrival])
    }

    override var isOrdered: Bool { true }
    override func cursor() -> VirtualCursor { EventTableCursor(self) }
}

private final class EventTableCursor: LogCursor<EventRecord> {
    /// In reverse: the next one is last.
    private var runs: [ClosedRange<UInt64>] = []
    private var names: [UInt32: String] = [:]

    init(_ events: EventTable) { super.init(events, EventRecord.tableColumns(TableContext())) }

    override func begin(_ bounds: LogBounds, _ ledger: Ledger, _ head: UInt64) throws {
        runs = plan.isReversed ? bounds.runs : bounds.runs.reversed()
        names = Dictionary(try ledger.log.sources().map { ($0.id.rawValue, $0.name) }) { first, _ in first }
    }

    override func read(_ most: Int, goesOn: Bool) throws {
        columns.removeAll()
        let lowest = min(runs.first?.lowerBound ?? .max, runs.last?.lowerBound ?? .max)
        defer { (count, isComplete) = (columns.rows.count, runs.isEmpty) }
        let readsPayload = plan.reads(log.table.columns.firstIndex { $0.name == "payload_b64" } ?? 63)
        while let run = runs.last, columns.rows.count < most, let ledger {
            let limit = most - columns.rows.count
            let found = try ledger.log.events(
                in: EventSequence(run.lowerBound)...EventSequence(run.upperBound), limit: limit, reversed: plan.isReversed)
            for event in found {
                columns.rows.append(
                    EventRecord(
                        event.header, source: names[event.header.source.rawValue] ?? String(event.header.source.rawValue),
                        encoding: event.header.encoding.exportName ?? String(event.header.encoding.rawValue),
                        payload: readsPayload ? Data(event.payload).base64EncodedString() : ""))
            }
            runs.removeLast()
            guard let end = found.last?.sequence.rawValue, found.count == limit else { continue }
            if plan.isReversed {
                if end > run.lowerBound { runs.append(run.lowerBound...end - 1) }
            } else if end < run.upperBound {
                runs.append(end + 1...run.upperBound)
            }
        }
        try kept?.requireAll(from: EventSequence(lowest))
    }

    override func number(_ row: EventRecord) -> UInt64 { row.header.sequence.rawValue }
}

/// The packets of the log, or their receptions.
final class PacketTable<Row: TableRow>: LogTable {
    let rows: (PacketRow) -> [Row]
    let number: (Row) -> UInt64
    /// Whether a row's number is that of its packet's first event.
    let isOfPackets: Bool
    let contextual: [Int]

    init(
        _ session: SQLSession, path: String?, _ finders: [String: Finder], isOfPackets: Bool,
        rows: @escaping (PacketRow) -> [Row], number: @escaping (Row) -> UInt64
    ) {
        (self.rows, self.number, self.isOfPackets) = (rows, number, isOfPackets)
        let columns = Row.tableColumns(TableContext())
        contextual = columns.indices.filter { columns[$0].isContextual }
        super.init(session, Row.tableSchema(), path: path, finders: finders)
    }

    override var view: String? { PacketRow.tableName }
    override func cursor() -> VirtualCursor { PacketTableCursor(self) }
}

private final class PacketTableCursor<Row: TableRow>: LogCursor<Row> {
    private let packets: PacketTable<Row>
    private var pump: ItemPump<PacketRow>?
    private var wanted = SequenceSet()
    private var lowest: UInt64?

    init(_ packets: PacketTable<Row>) {
        self.packets = packets
        super.init(packets, Row.tableColumns(TableContext()))
    }

    deinit { pump?.stop() }

    override func begin(_ bounds: LogBounds, _ ledger: Ledger, _ head: UInt64) throws {
        pump?.stop()
        pump = nil
        if packets.contextual.contains(where: { plan.reads($0) }) {
            columns = RowColumns(Row.tableColumns(try TableContext(ledger)))
        } else {
            columns.removeAll()
        }
        let isOfTime = bounds.heard.since != nil || bounds.heard.until != nil
        let heard = isOfTime ? try ledger.runs(heardFrom: bounds.heard.since, before: bounds.heard.until) : []
        var bounds = bounds
        if isOfTime, !packets.isOfPackets { bounds.cut(to: heard) }
        wanted = SequenceSet(bounds.runs)
        lowest = bounds.runs.first?.lowerBound
        guard let lowest = bounds.runs.first?.lowerBound, lowest <= head else { return }
        var (begins, lower) = (wanted, ledger.log.first.rawValue)
        /// One of a packet's receptions is among these.
        var received = wanted
        if packets.isOfPackets {
            (received, lower) = (SequenceSet([0...UInt64.max]), lowest)
            if isOfTime {
                // A packet was heard when its first receiver heard it: no reception is earlier, and one is within the times.
                guard !heard.isEmpty, let later = try ledger.runs(heardFrom: bounds.heard.since, before: nil).first else {
                    return
                }
                received = SequenceSet(heard.map { $0.lowerBound.rawValue...$0.upperBound.rawValue })
                lower = max(lower, later.lowerBound.rawValue)
            }
        } else {
            begins = SequenceSet([0...UInt64.max])
        }
        guard lower <= head else { return }
        let range = EventSequence(lower)...EventSequence(head)
        var selection = bounds.selection
        if let one = bounds.single, let packet = try ledger.packetName(at: EventSequence(one)) { selection.narrow(to: packet) }
        // The first events of a log that retention has cut may belong to packets that began before it.
        let includesEarlier = lower <= ledger.log.first.rawValue
        pump = ItemPump { [begins, received, selection] take in
            try ledger.forEachPacket(selection, in: range, includesEarlier: includesEarlier) { packet in
                guard let first = packet.receptions.first, begins.contains(first.sequence) else { return false }
                return packet.receptions.contains { received.contains($0.sequence) }
            } _: { packet in
                take(packet)
            }
        }
    }

    override func read(_ most: Int, goesOn: Bool) throws {
        columns.removeAll()
        guard let pump else {
            (count, isComplete) = (0, true)
            return
        }
        let found = try pump.next(most)
        if let lowest { try kept?.requireAll(from: EventSequence(lowest)) }
        for packet in found {
            for row in packets.rows(packet) where wanted.contains(packets.number(row)) { columns.rows.append(row) }
        }
        (count, isComplete) = (columns.rows.count, pump.isAtEnd)
    }

    override func number(_ row: Row) -> UInt64 { packets.number(row) }
}
