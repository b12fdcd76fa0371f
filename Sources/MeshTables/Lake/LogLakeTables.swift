import EventLog
import Foundation
import MeshLedger
import ProtobufWire

/// The events of the log, its packets and their receptions as tables of a lake.
///
/// Events and receptions belong to the day of their arrival, packets to the day on which they were first heard.
struct LogLakeTables {
    private let ledger: Ledger
    private let context: TableContext
    /// Whether places may be as precise as nodes sent them, since events contain them.
    private let isExact: Bool
    private let isWanted: (String) -> Bool
    private let events: ClosedRange<UInt64>?

    init(
        _ ledger: Ledger, _ context: TableContext, isExact: Bool, through head: UInt64?, isWanted: @escaping (String) -> Bool
    ) {
        (self.ledger, self.context, self.isExact, self.isWanted) = (ledger, context, isExact, isWanted)
        let (first, last) = (ledger.log.first.rawValue, head ?? (ledger.asOfSequence ?? ledger.log.head).rawValue)
        events = first <= last ? first...last : nil
    }

    func visit(_ visitor: inout some LakeVisitor) throws {
        let first = ledger.log.first.rawValue
        if isWanted(EventRecord.tableName), isExact {
            var table = LakeTable(
                EventRecord.tableName, view: nil, EventRecord.tableColumns(context),
                seconds: { $0.header.arrivalTime.seconds }
            ) { visit in
                if let events { try RowParts.of(visit) { try forEachEvent(in: events, $0) } }
            }
            table.firstEvent = first
            table.state = "\(first) \(try ledger.log.lastErasure()?.rawValue ?? 0)"
            table.narrow = LakeTable.Narrow(newDays: newDays) { days, visit in
                try RowParts.of(visit) { try forEachEvent(of: days, $0) }
            }
            try visitor.visit(table)
        }
        if isWanted(PacketRow.tableName) {
            var table = LakeTable(
                PacketRow.tableName, view: PacketRow.tableName, PacketRow.tableColumns(context),
                seconds: { $0.heard?.seconds }
            ) { visit in
                try RowParts.of(visit, forEachPacket)
            }
            (table.firstEvent, table.state) = (first, "\(first)")
            try visitor.visit(table)
        }
        if isWanted(ReceptionRecord.tableName) {
            var table = LakeTable(
                ReceptionRecord.tableName, view: PacketRow.tableName, ReceptionRecord.tableColumns(context),
                seconds: { $0.reception.arrival.seconds }
            ) { visit in
                try RowParts.of(visit) { visit in try forEachPacket { ReceptionRecord.all(of: $0).forEach(visit) } }
            }
            (table.firstEvent, table.state) = (first, "\(first)")
            try visitor.visit(table)
        }
    }

    private func forEachPacket(_ visit: (PacketRow) -> Void) throws {
        try ledger.forEachPacket {
            visit($0)
            return true
        }
    }

    // MARK: Events

    /// No read transaction stays open for long, since that would keep the log's file from reusing freed pages.
    private static let eventsAtOnce = 4_096

    private func forEach(in range: ClosedRange<UInt64>, _ visit: (EventHeader, RawSpan) -> Void) throws {
        var next = range.lowerBound
        while next <= range.upperBound {
            let end = min(range.upperBound, next + UInt64(Self.eventsAtOnce) - 1)
            try ledger.log.withEvents(from: EventSequence(next), count: Int(end - next) + 1) { header, payload in
                guard header.sequence.rawValue <= end else { return false }
                visit(header, payload)
                return true
            }
            next = end + 1
        }
    }

    private func forEachEvent(in range: ClosedRange<UInt64>, _ visit: (EventRecord) -> Void) throws {
        let sources = context.sourceNames
        try forEach(in: range) { header, payload in
            visit(
                EventRecord(
                    header, source: sources[header.source.rawValue] ?? String(header.source.rawValue),
                    encoding: header.encoding.exportName ?? String(header.encoding.rawValue),
                    payload: Data(payload.asArray).base64EncodedString()))
        }
    }

    private func newDays(since head: UInt64) throws -> Set<LakeDay> {
        guard let events, head < events.upperBound else { return [] }
        var days: Set<LakeDay> = []
        var last: Int64?
        try forEach(in: max(head + 1, events.lowerBound)...events.upperBound) { header, _ in
            let seconds = header.arrivalTime.seconds
            if last == seconds { return }
            last = seconds
            days.insert(LakeDay(seconds: seconds))
        }
        return days
    }

    private func forEachEvent(of days: Set<LakeDay>, _ visit: (EventRecord) -> Void) throws {
        guard let events else { return }
        for number in days.compactMap(\.number).sorted() {
            let (start, end) = (Timestamp(seconds: number * 86_400), Timestamp(seconds: (number + 1) * 86_400))
            for run in try ledger.log.runs(arrivedFrom: start, before: end) {
                let (first, last) = (
                    max(run.lowerBound.rawValue, events.lowerBound), min(run.upperBound.rawValue, events.upperBound)
                )
                if first <= last { try forEachEvent(in: first...last, visit) }
            }
        }
    }
}
