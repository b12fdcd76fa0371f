import Foundation
import LogKit
import TestKit
import Testing

@testable import EventLog

/// The small files that decide what is kept, with a bit of theirs flipped.
@Suite struct NamedGenerations {
    private let options = EventLogOptions(sealing: SealingPolicy(isAutomatic: false))

    /// A log of 300 events that was compacted once, so that it is of generation 2.
    private func compacted(_ path: String) async throws {
        let log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 300)
        _ = try await log.compact()
        await log.close()
    }

    private func write(_ bytes: [UInt8], _ path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    @Test func `a log that was put in another's place after current was read is found`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await compacted(path)
        #expect(try LogFolder(path: path).generation(named: "format 2\ngeneration 1\n") == 2)
        let current = LogFiles(path: path).current
        try write(Array("format 2\ngeneration 7\n".utf8), current)
        let error = #expect(throws: EventLogError.self) { _ = try LogFolder(path: path).readCurrent() }
        #expect(error?.code == .corrupt && error?.detail?.contains("generation 7, which is not there") == true)
    }

    @Test(arguments: [true, false]) func `no flipped bit of current makes a writer remove the log, and each is reported`(
        hasChecksum: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await compacted(path)
        let current = LogFiles(path: path).current
        let good =
            hasChecksum ? [UInt8](try Data(contentsOf: URL(fileURLWithPath: current))) : Array("format 2\ngeneration 2\n".utf8)
        #expect(String(decoding: good, as: UTF8.self).contains("checksum ") == hasChecksum)
        for bit in 0..<good.count * 8 {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            try write(bad, current)
            do throws(EventLogError) {
                let log = try EventLog.open(at: path, options: options)
                #expect(!hasChecksum && log.head.rawValue == 300, "bit \(bit) of \(String(decoding: bad, as: UTF8.self))")
                await log.close()
            } catch {
                #expect([.corrupt, .newerFormat, .olderFormat].contains(error.code), "bit \(bit): \(error)")
                if error.code == .corrupt { #expect("\(error)".contains("generation 2 is there"), "\(error)") }
            }
            #expect(FileManager.default.fileExists(atPath: path + "/log/2/data.mdb"), "bit \(bit)")
        }
        try write(good, current)
        let log = try EventLog.open(at: path, options: options)
        #expect(try log.verify().eventsChecked == 300)
        await log.close()
    }

    @Test func `a generation that has more events than the one that is named is not removed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        try await compacted(path)
        // As an interruption leaves it: an unfinished copy, or the one before the last change.
        for other in [1, 3] {
            let place = "\(path)/log/\(other)"
            try FileManager.default.copyItem(atPath: path + "/log/2", toPath: place)
            var log = try EventLog.open(at: path, options: options)
            #expect(!FileManager.default.fileExists(atPath: place), "it has nothing that the log lacks")
            await log.close()
            try FileManager.default.copyItem(atPath: path + "/log/2", toPath: place)
            try write(Array("format 2\ngeneration \(other)\n".utf8), path + "/log/current")
            try FileManager.default.moveItem(atPath: path + "/log/2", toPath: folder.path + "/2")
            log = try EventLog.open(at: path, options: options)
            try await appendNumbered(log, 50)
            await log.close()
            try FileManager.default.moveItem(atPath: folder.path + "/2", toPath: path + "/log/2")
            try write(Array("format 2\ngeneration 2\n".utf8), path + "/log/current")
            let error = #expect(throws: EventLogError.self) { try EventLog.open(at: path, options: options) }
            #expect(
                error?.code == .corrupt && "\(String(describing: error))".contains("with event 350"),
                "\(String(describing: error))")
            #expect(FileManager.default.fileExists(atPath: place + "/data.mdb"))
            try FileManager.default.removeItem(atPath: place)
        }
        let log = try EventLog.open(at: path, options: options)
        #expect(try log.verify().eventsChecked == 300)
        await log.close()
    }

    @Test func `the generation before stays where an event of its successor is damaged`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 600)
        await log.close()
        try FileManager.default.copyItem(atPath: path + "/log/1", toPath: folder.path + "/1")
        log = try EventLog.open(at: path, options: options)
        _ = try await log.compact()
        await log.close()
        // As an interruption after `current` was written leaves it, with a bit flipped in the successor.
        let file = path + "/log/2/data.mdb"
        let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        var bad = good
        bad[try #require(Data(good).range(of: Data(numberedPayload(100)))).lowerBound] ^= 1
        try write(bad, file)
        try FileManager.default.copyItem(atPath: folder.path + "/1", toPath: path + "/log/1")
        let error = #expect(throws: EventLogError.self) { try EventLog.open(at: path, options: options) }
        #expect(error?.code == .corrupt)
        #expect("\(String(describing: error))".contains("event 100"), "\(String(describing: error))")
        #expect(FileManager.default.fileExists(atPath: path + "/log/1/data.mdb"))
        try write(good, file)
        log = try EventLog.open(at: path, options: options)
        #expect(!FileManager.default.fileExists(atPath: path + "/log/1"))
        #expect(try log.verify().eventsChecked == 600)
        await log.close()
    }

    @Test func `a log that was damaged before it was compacted is opened without the generation before`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 600)
        await log.close()
        let file = path + "/log/1/data.mdb"
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        bytes[try #require(Data(bytes).range(of: Data(numberedPayload(100)))).lowerBound] ^= 1
        try write(bytes, file)
        try FileManager.default.copyItem(atPath: path + "/log/1", toPath: folder.path + "/1")
        log = try EventLog.open(at: path, options: options)
        _ = try await log.compact()
        await log.close()
        try FileManager.default.copyItem(atPath: folder.path + "/1", toPath: path + "/log/1")
        log = try EventLog.open(at: path, options: options)
        #expect(!FileManager.default.fileExists(atPath: path + "/log/1"))
        await log.close()
    }

    @Test func `a consumer's position with a flipped bit is reported, and those of earlier versions are read`() throws {
        let folder = try TemporaryFolder()
        let files = ConsumerFiles(ledger: folder.path)
        try files.makeFolder()
        try files.store(4_711, "one")
        #expect(try files.position("one") == 4_711)
        let path = files.positionPath("one")
        let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        for bit in 0..<good.count * 8 {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            try write(bad, path)
            let error = #expect(throws: EventLogError.self, "bit \(bit)") { _ = try files.position("one") }
            #expect(error?.code == .corrupt)
        }
        try write(Array("acknowledged 12\n".utf8), path)
        #expect(try files.position("one") == 12)
    }
}
