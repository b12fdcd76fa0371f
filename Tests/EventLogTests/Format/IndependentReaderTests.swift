import Foundation
import LMDB
import LogKit
import LogTransfer
import TestKit
import Testing

@testable import EventLog

/// `Tools/read-ledger`, which knows of the log's files only what `FORMAT.md` says.
struct IndependentReaderTests {
    private struct Line: Decodable {
        let sequence: UInt64
        let arrival: String
        let reception: String?
        let source: String
        let encoding: String
        let payload_b64: String
    }

    private func read(_ path: String) throws -> (status: Int32, lines: [Line], errors: String) {
        let (status, text, said) = try run([path])
        return (status, try text.split(separator: 10).map { try JSONDecoder().decode(Line.self, from: $0) }, said)
    }

    private func run(_ arguments: [String]) throws -> (status: Int32, text: Data, errors: String) {
        let (output, errors) = (Pipe.ofOneChild(), Pipe.ofOneChild())
        let process = try Process.start(
            PackageRoot.url.appendingPathComponent("Tools/read-ledger"), arguments, output: output, errors: errors)
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, said)
    }

    @Test(arguments: [false, true])
    func `a reader in another language finds every event as it is`(isSealed: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 1200)
        let events = try log.events(in: EventSequence(1)...log.head)
        if isSealed { try seal(log, upTo: 900) }
        await log.close()
        let (status, lines, errors) = try read(path)
        #expect(status == 0, "\(errors.prefix(500))")
        #expect(lines.count == events.count)
        for (line, event) in zip(lines, events) {
            #expect(line.sequence == event.sequence.rawValue)
            #expect(line.payload_b64 == Data(event.payload).base64EncodedString())
            #expect(line.source == "mqtt://broker/msh" && line.encoding == "note")
            #expect((line.reception == "live") == (event.header.reception == .live))
        }
    }

    @Test func `a reader in another language tells an erasure from a record that only looks erased`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await logOfSecrets(path, 600, sealed: 300)
        try await log.erase([EventSequence(30)...EventSequence(310)], reason: "asked for")
        #expect(try read(path).status == 0)
        let eraser = try RecordEraser(SequenceSet([20...20, 500...500]), nil)
        try log.store.environment.write { (write) throws(StorageError) in try eraser.move(into: &write, log.store) }
        await log.close()
        let (status, _, errors) = try read(path)
        #expect(status == 1)
        #expect(
            errors.split(separator: "\n") == [
                "event 20 is erased, but no event records that", "event 500 is erased, but no event records that",
            ])
    }

    @Test(arguments: [false, true])
    func `a reader in another language names a record or a block whose checksum differs`(isSealed: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 300)
        let event = try #require(try log.event(EventSequence(250)))
        var needle = Array(event.payload.suffix(40))
        if isSealed {
            let blocks = try seal(log, upTo: 300)
            needle = Array(blocks[0].bytes.suffix(40))
        }
        await log.close()
        try LogFiles(path: path).damage(needle)
        let (status, lines, errors) = try read(path)
        #expect(status == 1)
        #expect(errors.contains(isSealed ? "the block from event 1 on" : "event 250 "))
        #expect(lines.count == (isSealed ? 0 : 299))
    }

    @Test func `a reader in another language computes the same root from sealed, plain and erased events`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await logOfSecrets(path, 1200, sealed: 700)
        try await log.erase([EventSequence(5)...EventSequence(9), EventSequence(650)...EventSequence(1100)], reason: "asked for")
        let body = try log.checkpoint(namesSources: true).text
        await log.close()
        let (status, text, errors) = try run(["--checkpoint", path])
        #expect(status == 0, "\(errors.prefix(500))")
        #expect(String(decoding: text, as: UTF8.self) == body)

        let fixture = PackageRoot.url.appendingPathComponent("Tests/Fixtures/format-2")
        let note = try String(contentsOf: fixture.appendingPathComponent("checkpoint.note"), encoding: .utf8)
        let old = try run(["--checkpoint", fixture.appendingPathComponent("mesh.ledger").path])
        // The note is from before notes had origins.
        let known = String(decoding: old.text, as: UTF8.self).split(separator: "\n").dropLast().map { $0 + "\n" }.joined()
        #expect(old.status == 0 && note.hasPrefix(known + "\n"), "\(old.errors)")
    }

    @Test func `a reader in another language says where the events of a merged ledger come from as its checkpoint does`()
        async throws
    {
        let folder = try TemporaryFolder()
        var inputs: [EventLog] = []
        for name in ["one", "two"] {
            let log = try await filledLog(at: folder.path + "/" + name, events: 300)
            inputs.append(log)
        }
        let path = folder.path + "/merged"
        _ = try await EventLog.merge(inputs, into: path)
        for log in inputs { await log.close() }
        let log = try EventLog.open(at: path)
        try await appendNumbered(log, 20)
        let body = try log.checkpoint(namesSources: true).text
        await log.close()
        let (status, text, errors) = try run(["--checkpoint", path])
        #expect(status == 0 && String(decoding: text, as: UTF8.self) == body, "\(errors.prefix(500))")
    }

    @Test func `a reader in another language finds a changed hash of the tree`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try await filledLog(at: path, events: 600)
        await log.close()
        let wrong = [UInt8](repeating: 7, count: 32)
        try LogFiles(path: path).change { write, store throws(StorageError) in
            let key = SubtreeKey(level: 1, number: 1).buffer
            try write.put(store.tree, key: key.bytes, value: wrong.span.rawBytes)
        }
        let (status, _, errors) = try run(["--checkpoint", path])
        #expect(status == 1 && errors.contains("the hash 1 of level 1"))
    }
}
