import EventLog
import TestKit

/// What somebody does to a ledger's history.
enum Tampering: String, CaseIterable, Sendable {
    case delete, insert, reorder, splice, truncate, rollBack, fork
    case changePayload, changeHeader, changeSalts, renameSource, swapSources, removeSource, changeIdentifier
    case eraseSilently, eraseWithEvent, eraseWithSignedEvent
    case keepOldTree, hideByFacts, hideByTime
    case dropSilently, dropWithEvent
    case changeOrigin

    /// Whether the log alone, without the checkpoint kept elsewhere, looks as if nothing had happened.
    var isConsistent: Bool {
        switch self {
        case .eraseSilently, .keepOldTree, .hideByFacts, .hideByTime, .dropSilently, .dropWithEvent: false
        default: true
        }
    }

    /// Whether a backup of the ledger has it. What a block says openly is rebuilt, and the stored tree too.
    var reachesBackups: Bool {
        switch self {
        case .keepOldTree, .hideByFacts, .hideByTime: false
        default: true
        }
    }

    /// - Parameters:
    ///   - size: how many events the checkpoint covers.
    ///   - old: the same log at an earlier time, with fewer events than the checkpoint covers.
    ///   - other: another log of the same kind.
    /// - Returns: false where it changed nothing.
    func apply(
        to log: inout ForgedLog, size: Int, old: ForgedLog, other: ForgedLog, _ generator: inout SeededGenerator
    ) -> Bool {
        let place = Int.random(in: 0..<size, using: &generator)
        switch self {
        case .delete: log.records.removeSubrange(place..<min(place + Int.random(in: 1..<4, using: &generator), size))
        case .insert: log.records.insert(other.records[place % other.records.count], at: place)
        case .reorder:
            let second = Int.random(in: 0..<size, using: &generator)
            guard log.records[place] != log.records[second] else { return false }
            log.records.swapAt(place, second)
        case .splice:
            let end = min(place + Int.random(in: 1..<300, using: &generator), size, other.records.count)
            guard place < end else { return false }
            log.records.replaceSubrange(place..<end, with: other.records[place..<end])
            let withSalts = Bool.random(using: &generator)
            if withSalts { for tile in place / 256...(end - 1) / 256 { log.salts[tile] = other.salts[tile] } }
        case .truncate: log.records.removeSubrange(place...)
        case .rollBack: log = old
        case .fork: fork(&log, size, old, other, &generator)
        case .changePayload:
            guard log.records[place].count > 24 else { return false }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: log.records[place][Int.random(in: 24..<log.records[place].count, using: &generator)] ^= 1
            case 1: log.records[place].removeLast()
            default: log.records[place] += [0]
            }
        case .changeHeader:
            // Not the flag of an erasure, which is another tampering.
            var bit = Int.random(in: 0..<24 * 8, using: &generator)
            if bit == ForgedLog.flags * 8 + 3 { bit -= 1 }
            log.records[place][bit / 8] ^= 1 << UInt8(bit % 8)
            // Nor one that makes it look like what the log says of itself: that is found without a checkpoint, too.
            let record = log.records[place]
            if record[16..<20].allSatisfy({ $0 == 0 }), [3, 4].contains(record[22]) { return false }
        case .changeSalts:
            let isWritten = Bool.random(using: &generator)
            var salts = isWritten ? ForgedLog.written(log.salts[place / 256]) : log.salts[place / 256]
            salts[isWritten ? 16 * (place % 256) : place % 16] ^= 1
            log.salts[place / 256] = salts
        case .eraseSilently, .eraseWithEvent, .eraseWithSignedEvent:
            let places = place..<min(place + Int.random(in: 1..<5, using: &generator), size)
            // The log's own events and those that are erased already stay.
            guard
                places.allSatisfy({
                    log.records[$0][16..<20] != [0, 0, 0, 0] && log.records[$0][ForgedLog.flags] & ForgedLog.erased == 0
                })
            else { return false }
            log.erase(places)
            guard self != .eraseSilently else { break }
            let key = self == .eraseWithSignedEvent ? generator.bytes(32) : nil
            log.appendErasure(of: places, origin: "meshledger/\(log.identifier)", key: key)
        case .dropSilently, .dropWithEvent:
            guard size >= 256 else { return false }
            log.drop(through: (place % (size / 256) + 1) * 256, key: self == .dropWithEvent ? generator.bytes(32) : nil)
        case .changeOrigin:
            if log.origins.isEmpty { return log.inventOrigin(of: place, &generator) }
            return log.changeOrigin(size: size, &generator)
        default: return applyAside(to: &log, place, old: old, &generator)
        }
        return true
    }

    /// Another history from some event on, with salts of its own, at least as long as before.
    private func fork(
        _ log: inout ForgedLog, _ size: Int, _ old: ForgedLog, _ other: ForgedLog, _ generator: inout SeededGenerator
    ) {
        let head = log.records.count
        log.records = old.records
        log.blocks = old.blocks
        log.salts = Array(log.salts.prefix((old.records.count + 255) / 256))
        while log.records.count < head { log.records.append(other.records.randomElement(using: &generator)!) }
        while log.salts.count < (head + 255) / 256 { log.salts.append(generator.bytes(16)) }
    }

    /// What lies beside the events.
    private func applyAside(
        to log: inout ForgedLog, _ place: Int, old: ForgedLog, _ generator: inout SeededGenerator
    ) -> Bool {
        let source = Int.random(in: 0..<log.sources.count, using: &generator)
        switch self {
        case .renameSource:
            // The name comes first, behind its tag and its length.
            log.sources[source].value[2] ^= 1
        case .swapSources:
            let second = (source + 1) % log.sources.count
            (log.sources[source].value, log.sources[second].value) = (log.sources[second].value, log.sources[source].value)
        case .removeSource: log.sources.remove(at: source)
        case .changeIdentifier:
            guard let row = log.meta.firstIndex(where: { String(decoding: $0.key, as: UTF8.self).hasPrefix("identifier") }) else {
                return false
            }
            log.meta[row].value[place % 16] ^= 1
        case .keepOldTree:
            // The events of a full tile are others, their hash in the tree stays.
            guard log.records.count >= 256 else { return false }
            let tile = min(place / 256, log.records.count / 256 - 1)
            log.treeHashes[tile] = log.tileHash(tile)
            log.records[tile * 256 + place % 256][0] ^= 1
        case .hideByFacts:
            // An empty facet: no event has any value in it.
            guard !log.blocks.isEmpty else { return false }
            log.blockFacts[place % log.blocks.count] = [0x0a, 0x02, 0x08, 0x01]
        case .hideByTime:
            guard !log.blocks.isEmpty else { return false }
            log.blockArrivals[place % log.blocks.count] = (0, 0)
        default: return false
        }
        return true
    }
}
