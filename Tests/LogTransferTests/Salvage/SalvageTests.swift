import Foundation
import Glibc
import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog
@testable import LogTransfer

/// Saving what is left of a damaged log.
struct SalvageTests {
    @Test func `a salvaged log has every event as it was, its sources and its cursors`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 3000)
        let events = try log.events(in: EventSequence(1)...log.head)
        let sources = try log.sources()
        await log.close()
        let report = try await EventLog.salvage(path, to: folder.path + "/new") { _ in
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/new"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/new.salvaging"))
        let again = await #expect(throws: EventLogError.self) { try await EventLog.salvage(path, to: folder.path + "/new") }
        #expect(again?.code == .exists)
        #expect(report.isComplete && report.saved == 3000 && report.found == 0 && report.disputed == 0)
        let new = try EventLog.open(at: folder.path + "/new")
        #expect(try new.events(in: EventSequence(1)...new.head) == events)
        #expect(try new.sources() == sources)
        #expect(try new.cursor("a file") == [1, 2, 3])
        #expect(try new.verify().isIntact)
        #expect(new.identifier != log.identifier)
        await new.close()
    }

    /// What `log/current` names, which copy is behind, and in which generation the whole log is.
    @Test(arguments: [nil, 1, 2] as [UInt32?], [1, 2] as [UInt32])
    func `of several generations the one that goes furthest is salvaged`(named: UInt32?, whole: UInt32) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        await (try await filledLog(at: path, events: 300)).close()
        try FileManager.default.moveItem(atPath: path + "/log/1", toPath: folder.path + "/part")
        try FileManager.default.removeItem(atPath: path)
        await (try await filledLog(at: path, events: 700)).close()
        if whole == 2 { try FileManager.default.moveItem(atPath: path + "/log/1", toPath: path + "/log/2") }
        try FileManager.default.moveItem(atPath: folder.path + "/part", toPath: path + "/log/\(3 - whole)")
        if let named {
            try LogFolder(path: path).writeCurrent(generation: named)
        } else {
            try FileManager.default.removeItem(atPath: path + "/log/current")
        }
        let report = try await EventLog.salvage(path, to: folder.path + "/new") { _ in }
        #expect(report.isComplete && report.saved == 700, "\(report)")
        // Only that one is read as the log, also by readers, which hold no lock.
        let reader = EventLogOptions(access: .readOnly)
        if named == whole {
            await (try EventLog.open(at: path, options: reader)).close()
        } else {
            #expect(throws: EventLogError.self) { try EventLog.open(at: path, options: reader) }
        }
    }

    @Test func `a salvaged ledger gets its name when it has everything`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 300)
        await log.close()
        let new = folder.path + "/new"
        await #expect(throws: EventLogError.self) {
            try await EventLog.salvage(path, to: new) { _ in
            } completedBy: { (unfinished) throws(EventLogError) in
                try SmallFile.replace(unfinished + "/limit", with: "half")
                throw EventLogError(.diskFull, path: unfinished)
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ledger"])
        _ = try await EventLog.salvage(path, to: new) { _ in
        } completedBy: { (unfinished) throws(EventLogError) in
            #expect(unfinished == new + ".salvaging" && !FileManager.default.fileExists(atPath: new))
            try SmallFile.replace(unfinished + "/limit", with: "whole")
        }
        #expect(try String(contentsOfFile: new + "/limit", encoding: .utf8) == "whole")
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `D10: of a damaged log every event comes back as it was or is named as lost`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 1500)
        let events = try log.events(in: EventSequence(1)...log.head)
        await log.close()
        let file = LogFiles(path: path).data
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        let damage = Damage(&bytes, &generator)
        try Data(bytes).write(to: URL(fileURLWithPath: file))

        let report = try await EventLog.salvage(path, to: folder.path + "/new")
        #expect(report == (try EventLog.survey(path)), "\(damage)")
        let new = try EventLog.open(at: folder.path + "/new")
        #expect(try new.verify().isIntact)
        let lost = Set(report.missingRanges.flatMap { $0.lowerBound.rawValue...$0.upperBound.rawValue })
        #expect(lost.count == report.missing)
        #expect(report.saved + report.missing == Int(new.head.rawValue))
        #expect(new.head <= log.head && (new.head == log.head || damage.isCut || !report.knowsEnd))
        for event in try new.events(in: EventSequence(1)...max(new.head, EventSequence(1))) {
            if lost.contains(event.sequence.rawValue) {
                #expect(event.header.encoding == .gap)
                #expect(Gap(payload: event.payload.span.rawBytes)?.count == 1)
            } else {
                #expect(event == events[Int(event.sequence.rawValue) - 1])
            }
        }
        switch damage {
        case .bit: #expect(report.missing <= 1)
        case .page: #expect(report.missing <= 100)
        case .cut: break
        }
        await new.close()
    }

    @Test func `sealed blocks are saved, also where no row leads to them any more`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 3000)
        let events = try log.events(in: EventSequence(1)...log.head)
        let blocks = try seal(log, upTo: 2000)
        await log.close()
        #expect(blocks.count > 2)
        #expect(try EventLog.survey(path).isComplete)
        // The rows of `sealed` go, and what is left of the rows of `events`; the blocks, in pages of their own, stay.
        let file = LogFiles(path: path).data
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        var wiped = 0
        for page in 2..<bytes.count / 4096 {
            let start = page * 4096
            guard startsBelow(2001, Array(bytes[start..<start + 4096])) else { continue }
            bytes.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0, count: 4096))
            wiped += 1
        }
        #expect(wiped > 0)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let report = try await EventLog.salvage(path, to: folder.path + "/new")
        #expect(report.saved == 3000 && report.missing == 0 && report.found >= 2000)
        let new = try EventLog.open(at: folder.path + "/new")
        #expect(try new.events(in: EventSequence(1)...new.head) == events)
        await new.close()
    }

    @Test func `a damaged key of the last sealed block takes no event away`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 3000)
        let events = try log.events(in: EventSequence(1)...log.head)
        let last = try #require(try seal(log, upTo: 2000).last)
        await log.close()
        // A row whose value lies in pages of its own: its flags, the length of its key, its key.
        let row = [1, 0, 8, 0] + (0..<8).map { UInt8(truncatingIfNeeded: last.first >> UInt64(56 - 8 * $0)) }
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: LogFiles(path: path).data)))
        var changed = 0
        for start in 0..<bytes.count - row.count where bytes[start] == 1 && Array(bytes[start..<start + row.count]) == row {
            bytes[start + row.count - 2] ^= 4
            changed += 1
        }
        #expect(changed > 0)
        try Data(bytes).write(to: URL(fileURLWithPath: LogFiles(path: path).data))
        let report = try await EventLog.salvage(path, to: folder.path + "/new")
        #expect(report.saved == 3000 && report.missing == 0)
        let new = try EventLog.open(at: folder.path + "/new")
        #expect(try new.events(in: EventSequence(1)...new.head) == events)
        await new.close()
    }

    @Test func `a payload that looks like a page with events is no find`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        var forged = Forgery.node(sequence: 2, payload: Array("forged".utf8))
        forged += Forgery.node(sequence: 9, payload: Array("forged".utf8))
        try await log.append(NewEvent(forged, encoding: .note, source: .log))
        try await log.append(NewEvent([0] + forged, encoding: .note, source: .log))
        let large = [UInt8](repeating: 0, count: 5000) + forged + [UInt8](repeating: 0, count: 9000)
        try await log.append(NewEvent(large, encoding: .note, source: .log))
        await log.close()
        let report = try EventLog.survey(path)
        #expect(report.saved == 3 && report.missing == 0 && report.found == 0 && report.disputed == 0)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>) func `pieces come back sorted, however few fit into memory`(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let sorter = SortedRuns(folder: folder.path, runLength: 700, by: SalvagePiece.precedes)
        var wanted: [UInt64] = []
        for _ in 0..<Int.random(in: 0..<10_000, using: &generator) {
            wanted.append(UInt64.random(in: 1..<5000, using: &generator))
            try sorter.add(
                SalvagePiece(
                    first: wanted[wanted.count - 1], place: UInt64(wanted.count), length: 32, blockCount: 0, standing: .live,
                    isLarge: false, isErased: false, arrival: 0))
        }
        try sorter.sort()
        var found: [UInt64] = []
        while let piece = try sorter.next() { found.append(piece.first) }
        #expect(found == wanted.sorted())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}

/// What was done to a file.
private enum Damage {
    case bit(offset: Int)
    case page(Int)
    case cut(Int)

    var isCut: Bool { if case .cut = self { true } else { false } }

    init(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let offset = Int.random(in: 0..<bytes.count, using: &generator)
        let page = offset / 4096
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            self = .bit(offset: offset)
            bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1:
            self = .page(page)
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: [UInt8](repeating: 0, count: 4096))
        case 2:
            self = .page(page)
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: generator.bytes(4096))
        default:
            self = .cut(offset)
            bytes.removeSubrange(offset...)
        }
    }
}

private enum Forgery {
    /// A row as a leaf page would hold it, with a record whose checksum fits.
    static func node(sequence: UInt64, payload: [UInt8]) -> [UInt8] {
        let header = RecordHeader(NewEvent(payload, encoding: .note, source: .log))
        let length = RecordHeader.size + payload.count
        var record = [UInt8](repeating: 0, count: length)
        unsafe record.withUnsafeMutableBytes { room in
            unsafe payload.withUnsafeBytes { bytes in
                unsafe Record.write(header, arrival: 5, payload: bytes, sequence: sequence, to: room.baseAddress!)
            }
        }
        let key = (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * UInt64($0))) }
        return [UInt8(length & 255), UInt8(length >> 8), 0, 0, 0, 0, 8, 0] + key + record
    }
}

/// Whether a page lists rows of which the first has a lower sequence.
private func startsBelow(_ limit: UInt64, _ page: [UInt8]) -> Bool {
    let bytes = PageBytes(page.span.rawBytes)
    guard bytes.isLeaf, bytes.nodeCount ?? 0 > 0, let node = bytes.leafNode(at: bytes.nodeOffset(0)),
        let sequence = SequenceKey.sequence(bytes.bytes.extracting(node.key))
    else { return false }
    return sequence < limit
}
