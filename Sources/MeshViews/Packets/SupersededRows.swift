/// Which rows of a node's packets those of earlier receptions replace, collected from the index on the way from the newest event to the oldest.
package struct SupersededRows: Sendable {
    private let node: UInt32
    /// Only what later events replace is of interest.
    private let cut: UInt64
    /// By mark, the packets whose beginnings have not been reached, of several the one that began last first: the oldest event so far that made its row.
    private var open: [UInt32: [UInt64?]] = [:]
    /// How many events after the cut may replace a row that has not been reached.
    private var waiting = 0
    /// By event: the one whose row it replaces.
    private var replaced: [UInt64: UInt64] = [:]
    /// The times of the rows that are replaced; 0 until it is known.
    private var times: [UInt64: UInt32] = [:]

    package init(of node: UInt32, after cut: UInt64) { (self.node, self.cut) = (node, cut) }

    /// Whether blocks that end with the event cannot add anything.
    package func isComplete(before event: UInt64) -> Bool { event <= cut && waiting == 0 }

    package mutating func collect(from layout: PacketBlockLayout, _ block: UInt64, through last: UInt64, _ bytes: RawSpan) {
        let first = block * PacketBlock.eventCount + 1 + UInt64(layout.skipped)
        guard first <= last, let place = layout.place(of: node, in: bytes) else { return }
        let entries = layout.entries(of: place, .sender, in: bytes).filter { entry in
            !layout.kinds[layout.kindColumn.number(entry, in: bytes)].flags.contains(.isBroken)
        }
        let isOfNode = Set(entries)
        var events: [(index: Int, entry: Int)] = []
        layout.forEachEvent(of: entries, in: bytes) { index, entry in
            if isOfNode.contains(entry), first + UInt64(index) <= last { events.append((index, entry)) }
        }
        for (index, entry) in events.reversed() {
            add(first + UInt64(index), of: layout.mark(entry, in: bytes), layout.eventFlags(index, in: bytes))
        }
    }

    private mutating func add(_ event: UInt64, of packet: UInt32, _ flags: EventFlags) {
        let isFirst = flags.contains(.isFirstReception)
        if isFirst, open[packet] == nil { return }
        let place = isFirst ? 0 : Int(flags.laterTwins)
        var rows = open[packet] ?? []
        while rows.count <= place { rows.append(nil) }
        if isFirst || flags.contains(.makesRow), let newer = rows[place], newer > cut { waiting -= 1 }
        if flags.contains(.makesRow) {
            if let newer = rows[place], newer > cut { (replaced[newer], times[event]) = (event, 0) }
            rows[place] = event
            if !isFirst, event > cut { waiting += 1 }
        }
        if isFirst { rows.removeFirst() }
        open[packet] = rows.isEmpty ? nil : rows
    }

    /// The events up to the cut whose rows later ones replace.
    package var earlier: Set<UInt64> { Set(replaced.values.filter { $0 <= cut }) }

    package mutating func note(rowOf event: UInt64, at time: UInt32) {
        if let known = times.index(forKey: event) { times.values[known] = time }
    }

    /// Marks the events that replace rows; the batches must come in the order of the log.
    package mutating func mark(in batch: inout MeshBatch) {
        for index in batch.stamps.indices where batch.stamps[index].isMeshtastic {
            let sequence = batch.stamps[index].sequence
            note(rowOf: sequence, at: batch.stamps[index].time)
            guard let old = replaced[sequence] else { continue }
            batch.superseded[index] = SupersededRow(sequence: old, time: times.removeValue(forKey: old) ?? 0)
            (batch.stamps[index].supersedes, batch.stamps[index].isFirstReadable) = (true, false)
        }
    }
}
