import Meshtastic

/// Determines again which rows earlier receptions replace, among the events of one series, in the order of the log.
package struct SupersededRows: Sendable {
    private struct Row {
        var sequence: UInt64
        var time: UInt32
        var heard: UInt32
        var print: PacketPrint
    }

    private var rows: [UInt64: [Row]] = [:]

    package init() {}

    package mutating func find(in batch: inout MeshBatch) {
        for index in batch.stamps.indices where batch.stamps[index].isMeshtastic {
            let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
            guard packet.isOpen, !packet.isReplayedState else { continue }
            let identity = batch.identity(of: packet, at: index)
            let new = Row(sequence: stamp.sequence, time: stamp.time, heard: stamp.heard, print: batch.prints[index])
            guard let place = rows[identity]?.lastIndex(where: { Self.supersedes(new, $0) }) else {
                rows[identity, default: []].append(new)
                continue
            }
            let old = rows[identity]?[place]
            batch.superseded[index] = old.map { SupersededRow(sequence: $0.sequence, time: $0.time) }
            (batch.stamps[index].supersedes, batch.stamps[index].isFirstReadable) = (true, false)
            rows[identity]?[place] = new
        }
    }

    private static func supersedes(_ new: Row, _ old: Row) -> Bool {
        let isInWindow = max(new.heard, old.heard) - min(new.heard, old.heard) <= 2 * SeenPackets.windowSeconds
        guard new.heard == 0 || old.heard == 0 || isInWindow else { return false }
        if new.print.isLossy != old.print.isLossy { return old.print.isLossy }
        return new.print.plain == old.print.plain && new.heard != 0 && (old.heard == 0 || new.heard < old.heard)
    }
}
