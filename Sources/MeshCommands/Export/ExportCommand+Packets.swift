import EventLog
import MeshIngest
import MeshLedger
import MeshTables
import Meshtastic
import ProtobufWire

/// Events, packets and receptions: there may be millions.
extension ExportCommand {
    /// What a page leaves out first and takes at most, where no condition decides it.
    private var pageOfAll: (offset: Int, limit: Int) { isPagedByQuery ? (page.offset, page.limit ?? .max) : (0, .max) }

    /// In the order of the log, so that they can be imported again.
    func exportEvents(_ ledger: Ledger) throws {
        let (offset, limit) = pageOfAll
        let order = EventOrder(by: by, since: times.since?.time, until: times.until?.time, newestFirst: false)
        let reading = try EventReading(ledger)
        let total = times.since == nil && times.until == nil ? ledger.log.head.rawValue : nil
        // Conditions are those of the list; without one no packet is decoded.
        let (decodes, hasTimes) = (!conditions.isEmpty, hasTimes)
        // Others state in their header when they were heard.
        let needsRow = { @Sendable (header: EventHeader) in decodes || hasTimes && !header.knowsWhenHeard }
        if format == .jsonl {
            let output = try output()
            let chosen = try rows(EventRow.columns(in: ledger), ledger, total: total)
            try reading.visitLog(order, offset: offset, limit: limit) { rows, header, payload in
                var line: [UInt8] = []
                line.reserveCapacity(payload.byteCount * 4 / 3 + 256)
                LedgerLine.append(header, source: rows.source(of: header), payload: payload, to: &line)
                return (line: line, row: needsRow(header) ? rows.row(header, payload) : nil)
            } part: { lines in
                for line in lines where chosen.takes(line.row) { output.write(line.line) }
                return chosen.goesOn
            }
            try chosen.end()
            return output.flush()
        }
        if TableFormat(rawValue: format.rawValue) != nil {
            return try write(EventRecord.tableColumns, ledger, total: total) { write in
                try reading.visitLog(order, offset: offset, limit: limit) { rows, header, payload in
                    guard !needsRow(header) || !rows.row(header, payload).isTimeOfImport else { return EventRecord?.none }
                    return EventRecord(
                        header, source: rows.source(of: header),
                        encoding: LedgerLine.name(of: header.encoding) ?? String(header.encoding.rawValue),
                        payload: Base64.text(payload))
                } part: {
                    $0.allSatisfy { $0.map(write) ?? true }
                }
            }
        }
        let raw = Set(EventRow.rawColumns.map(\.name))
        let others = decodes || hasTimes ? try EventRow.columns(in: ledger).filter { !raw.contains($0.name) } : []
        try write({ _ in [] }, ledger, as: EventRow.rawColumns, others: others, total: total) { write in
            try reading.visitLog(order, offset: offset, limit: limit) { rows, header, payload in
                var row = needsRow(header) ? rows.row(header, payload) : EventRow(header: header, source: rows.source(of: header))
                row.payload = Base64.text(payload)
                return row
            } part: {
                $0.allSatisfy(write)
            }
        }
    }

    /// The rows of `packets`: each packet once, the newest first.
    func exportPackets(_ ledger: Ledger) throws {
        try write(PacketRow.tableColumns, ledger, total: total(ledger)) { write in
            try forEachPacket(ledger, since: times.since?.time, write)
        }
    }

    /// A row for each time that a packet was heard, with times for those within them.
    func exportReceptions(_ ledger: Ledger) throws {
        let (since, until) = (times.since?.time, times.until?.time)
        try write(ReceptionRecord.tableColumns, ledger) { write in
            try forEachPacket(ledger, since: by == .heard ? since?.adding(seconds: -PacketRow.longestSeconds) : since) { packet in
                ReceptionRecord.all(of: packet).allSatisfy { record in
                    let time = by == .heard ? record.reception.heard : record.reception.arrival
                    guard since.map({ $0 <= time }) ?? true, until.map({ time < $0 }) ?? true else { return true }
                    return write(record)
                }
            }
        }
    }

    private func total(_ ledger: Ledger) throws -> UInt64? {
        guard ProgressBar.isShown, times.since == nil, times.until == nil else { return nil }
        return try ledger.packetCount(selection(ledger), within: .milliseconds(20))
    }

    private func selection(_ ledger: Ledger) throws -> EventSelection? {
        var chosen = SelectionOptions()
        (chosen.node, chosen.mentions, chosen.gateway) = (node, packets.mentions, packets.gateway)
        (chosen.channel, chosen.port, chosen.packet) = (channel, packets.port, packets.packet)
        return try chosen.selection(in: ledger)
    }

    private func forEachPacket(_ ledger: Ledger, since: Timestamp?, _ body: (PacketRow) -> Bool) throws {
        // Receptions are counted one by one, packets by what finds them.
        var rows = Page(offset: pageOfAll.offset, limit: pageOfAll.limit)
        let most = rows.left
        guard !rows.isFull else { return }
        let order = EventOrder(
            by: by, since: since, until: times.until?.time, newestFirst: !page.oldestFirst, try selection(ledger))
        var hasLeftOut = false
        try ledger.forEachPacket(order) { row in
            if hasTimes, row.isTimeOfImport {
                hasLeftOut = true
                return true
            }
            return rows.pass { body(row) }
        }
        if hasLeftOut, LeftOutRows.isWorthReporting(isEmpty: rows.left == most) {
            LeftOutRows(noun: "packet", advice: LeftOutRows.byArrival).report()
        }
    }

    /// What the index has of the events, in the order of the log. Unless times are chosen, also of those that retention has dropped.
    func exportIndex(_ ledger: Ledger) throws {
        var rows = Page(offset: pageOfAll.offset, limit: pageOfAll.limit)
        let order = EventOrder(by: by, since: times.since?.time, until: times.until?.time)
        var runs = try ledger.runs(of: order)
        if times.since == nil, times.until == nil {
            let first = ledger.log.first.rawValue
            if first > 1 { runs.insert(EventSequence(1)...EventSequence(first - 1), at: 0) }
        }
        try write(IndexedEvent.tableColumns, ledger) { write in
            for run in runs where !rows.isFull {
                try ledger.forEachIndexedEvent(in: run) { event in rows.pass { write(event) } }
            }
        }
    }
}
