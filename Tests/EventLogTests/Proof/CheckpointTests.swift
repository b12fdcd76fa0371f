import Foundation
import LMDB
import LogKit
import LogTransfer
import TestKit
import Testing

@testable import EventLog

@Suite struct CheckpointTests {
    @Test func `a checkpoint says what C2SP says that it must, and is signed by the ledger's key`() async throws {
        let log = try EventLog.temporary()
        _ = try await log.source(named: "a radio")
        try await appendNumbered(log, 300)
        let note = try log.checkpoint()
        let lines = note.text.split(separator: "\n")
        let origin = "meshledger/\(log.identifier)"
        #expect(lines.count == 3)
        #expect(lines[0] == origin)
        #expect(lines[1] == "300")
        #expect(lines[2] == Data(try log.root(size: EventSequence(300))).base64EncodedString())
        let longer = try log.checkpoint(namesSources: true).text.split(separator: "\n")
        #expect(longer.prefix(3) == lines[...] && longer[3].hasPrefix("sources 1 ") && longer[4].hasPrefix("origins "))
        #expect(note.signatures.map(\.name) == [origin])
        let verifier = try log.verifier()
        #expect(NoteVerifier(verifier.description) == verifier)
        let read = try #require(SignedNote(note.description))
        #expect(read == note)
        #expect(read.isSigned(by: verifier))
        #expect(LogCheckpoint(read)?.size == 300)
        let changed = try #require(SignedNote(note.description.replacing("\n300\n", with: "\n299\n")))
        #expect(!changed.isSigned(by: verifier))
        await log.close()
    }

    @Test func `the note of a proof can be compared after a cut, like a checkpoint`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 1_000)
        let note = try log.proof(of: EventSequence(900)).note
        try await appendNumbered(log, 1_048)
        try await log.cut(through: EventSequence(1_024))
        let proof = try log.consistencyProof(from: note, to: log.checkpoint())
        let checked = try proof.check(log.verifier())
        #expect(checked.old.size == 1_000)
        await log.close()
    }

    @Test(arguments: ["my log", "a+b", "", "tab\tname"]) func `a name that no note can have is refused`(_ origin: String)
        async throws
    {
        let log = try EventLog.temporary()
        let error = #expect(throws: EventLogError.self) { try log.checkpoint(origin: origin) }
        #expect(error?.code == .originName)
        await log.close()
    }

    @Test func `only an event that is there has an origin`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 5)
        for sequence in [.zero, EventSequence(6)] {
            let error = #expect(throws: EventLogError.self) { try log.origin(of: sequence) }
            #expect(error?.code == .tooFewEvents)
        }
        #expect(try log.origin(of: EventSequence(5)).sequence == EventSequence(5))
        await log.close()
    }

    @Test func `the signing key is for its owner only`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        await log.close()
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/signing.key")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `another file that is hard-linked as the list of checkpoints is not written to`() throws {
        let folder = try TemporaryFolder()
        let (other, path) = (folder.file("other"), folder.path + "/checkpoints")
        try Data("not ours\n".utf8).write(to: other)
        try FileManager.default.linkItem(atPath: other.path, toPath: path)
        IssuedCheckpoints(ledger: folder.path).add(300)
        #expect(try Data(contentsOf: other) == Data("not ours\n".utf8))
    }

    @Test func `the sizes of checkpoints that end within a tile are remembered once, whatever else the file holds`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/checkpoints"
        let issued = IssuedCheckpoints(ledger: folder.path)
        #expect(issued.sizes.isEmpty)
        for size in [0, 256, 512, 1 << 40] as [UInt64] { issued.add(size) }
        #expect(!FileManager.default.fileExists(atPath: path))
        for size in [1, 255, 257, 255, 1, (1 << 40) + 1] as [UInt64] { issued.add(size) }
        #expect(FileManager.default.contents(atPath: path) == Data("1\n255\n257\n1099511627777\n".utf8))
        try Data("junk\n\n-3\n 4\n99999999999999999999\n300\n7".utf8).write(to: folder.file("checkpoints"))
        #expect(issued.sizes == [300, 7])
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        issued.add(300)
        #expect(issued.sizes.isEmpty, "a checkpoint can be issued where its size cannot be remembered")
    }

    @Test func `a proof is checked without the ledger, and any changed byte is found`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 1000)
        let verifier = try log.verifier()
        for sequence in [1, 2, 256, 257, 1000] as [UInt64] {
            let text = try log.proof(of: EventSequence(sequence)).description
            let statement = try #require(InclusionProof(text)).check(verifier)
            #expect(statement.sequence.rawValue == sequence)
            #expect(statement.payload == numberedPayload(Int(sequence)))
            #expect(statement.checkpoint.size == 1000)
        }
        let text = Array(try log.proof(of: EventSequence(77)).description.utf8)
        for place in text.indices {
            var changed = text
            changed[place] ^= 1
            guard let proof = InclusionProof(String(decoding: changed, as: UTF8.self)) else { continue }
            let statement = try? proof.check(verifier)
            #expect(statement == nil, "changed byte \(place)")
        }
        let stranger = try EventLog.temporary()
        #expect(throws: InclusionProof.Flaw.signature) {
            try log.proof(of: EventSequence(5)).check(stranger.verifier())
        }
        await log.close()
        await stranger.close()
    }

    @Test func `a log that grew extends its old checkpoints, and one that was changed does not`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path)
        _ = try await log.source(named: "a radio")
        try await appendNumbered(log, 700)
        let old = try #require(LogCheckpoint(log.checkpoint()))
        try await appendNumbered(log, 900)
        #expect(try log.verify(extending: old).isIntact)
        await log.close()

        // What someone does who can write the files and knows the format: a changed event with a right checksum.
        try rewrite(path, sequence: 300, payload: Array("something else".utf8))
        log = try EventLog.open(at: path)
        let changed = try log.verify()
        #expect(changed.problems.map(\.text).contains { $0.contains("tree") })
        await log.close()
        try forgetTree(path)
        log = try EventLog.open(at: path)
        #expect(try log.verify().isIntact)
        let result = try log.verify(extending: old)
        #expect(result.problems.map(\.text).contains { $0.contains("history was rewritten") })
        await log.close()
    }

    @Test func `a log that was cut, or is another one, does not extend a checkpoint`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 700)
        let old = try #require(LogCheckpoint(log.checkpoint()))
        let other = try EventLog.temporary()
        try await appendNumbered(other, 700)
        let result = try other.verify(extending: old)
        #expect(result.problems.map(\.sequence) == [.zero] && result.problems[0].text.contains("another ledger"))
        let note = SignedNote(text: old.text.replacing("\n700\n", with: "\n701\n"), signatures: [])
        let longer = try #require(LogCheckpoint(note))
        #expect(try log.verify(extending: longer).problems.map(\.text).contains { $0.contains("its end was removed") })
        await log.close()
        await other.close()
    }

    @Test func `D23: what a ledger says of where its events come from cannot be changed behind a checkpoint`() async throws {
        let folder = try TemporaryFolder()
        var inputs: [EventLog] = []
        for name in ["one", "two"] {
            let log = try EventLog.create(at: folder.path + "/" + name)
            try await appendNumbered(log, 40)
            inputs.append(log)
        }
        let path = folder.path + "/merged"
        _ = try await EventLog.merge(inputs, into: path)
        let own = try inputs[0].checkpoint(namesSources: true)
        for log in inputs { await log.close() }
        var log = try EventLog.open(at: path)
        let note = try log.checkpoint(namesSources: true)
        let old = try #require(LogCheckpoint(note))
        #expect(try log.verify(extending: old).isIntact)
        await log.close()

        let text = note.text.split(separator: "\n").dropLast().map { $0 + "\n" }.joined()
        let earlier = try #require(LogCheckpoint(SignedNote(text: text, signatures: [])))
        #expect(earlier.originsHash == nil && LogCheckpoint(own)?.originsHash != old.originsHash)
        let row = try originRow(path)
        var runs = OriginRow.runs(row.span.rawBytes, first: 1) ?? []
        let second = OriginRun(ledger: runs[0].ledger, first: runs[0].first + 1, count: runs[0].count - 1)
        runs[0].count = 1
        let others = [second] + runs.dropFirst()
        try replaceOrigins(path, [1: OriginRow.bytes([runs[0]], first: 1), 2: OriginRow.bytes(others, first: 2)])
        log = try EventLog.open(at: path)
        #expect(try log.checkpoint(namesSources: true).text == note.text, "the same origins in other rows")
        await log.close()

        let stranger = try #require(LedgerID([UInt8](repeating: 7, count: 16)))
        try replaceOrigins(path, [1: OriginRow.bytes([OriginRun(ledger: stranger, first: 1, count: 80)], first: 1)])
        log = try EventLog.open(at: path)
        #expect(try log.verify().isIntact)
        #expect(try log.verify(extending: earlier).isIntact)
        let foreign = try log.verify(extending: old).problems
        #expect(foreign.map(\.sequence) == [.zero] && foreign[0].text.contains("origins of the events up to"))
        await log.close()

        try replaceOrigins(path, [1: [0xff]])
        log = try EventLog.open(at: path)
        let damaged = try log.verify(extending: old).problems
        #expect(damaged.map(\.sequence) == [.zero] && damaged[0].text.contains("cannot be read"))
        await log.close()
    }

    @Test func `a row of origins with more events than there are numbers is refused`() throws {
        let ledger = try #require(LedgerID([UInt8](repeating: 7, count: 16)))
        let run = OriginRun(ledger: ledger, first: 1, count: .max / 2)
        for (count, isRefused) in [(2, false), (3, true)] {
            let row = OriginRow.bytes(Array(repeating: run, count: count), first: 1)
            let runs = OriginRow.runs(row.span.rawBytes, first: 1)
            #expect((runs == nil) == isRefused, "\(count) runs")
        }
    }

    private func originRow(_ path: String) throws -> [UInt8] {
        let environment = try Environment.open(path + "/log/1", EnvironmentOptions(maximumTables: 16))
        defer { environment.close() }
        let table = try environment.table("origins")
        let read = try environment.beginRead()
        let key = SequenceKey(1)
        return try read.get(table, key.span)?.copied ?? []
    }

    private func replaceOrigins(_ path: String, _ rows: [UInt64: [UInt8]]) throws {
        try LogFiles(path: path).change { write, store throws(StorageError) in
            guard let table = store.origins else { return }
            try write.removeAll(table)
            for (first, bytes) in rows {
                let key = SequenceKey(first)
                try write.put(table, key: key.span, value: bytes.span.rawBytes)
            }
        }
    }

    private func rewrite(_ path: String, sequence: UInt64, payload: [UInt8]) throws {
        let header = RecordHeader(NewEvent(payload, encoding: .note, source: .log))
        var record = [UInt8](repeating: 0, count: RecordHeader.size + payload.count)
        unsafe record.withUnsafeMutableBytes { room in
            unsafe payload.withUnsafeBytes { bytes in
                unsafe Record.write(header, arrival: 0, payload: bytes, sequence: sequence, to: room.baseAddress!)
            }
        }
        try LogFiles(path: path).change { write, store throws(StorageError) in
            let key = SequenceKey(sequence)
            try write.put(store.events, key: key.span, value: record.span.rawBytes)
        }
        try fixArrivals(path, tile: (sequence - 1) / 256)
    }

    private func fixArrivals(_ path: String, tile: UInt64) throws {
        try LogFiles(path: path).change { write, store throws(StorageError) in
            var arrivals = ArrivalRange()
            for sequence in tile * 256 + 1...(tile + 1) * 256 {
                let key = SequenceKey(sequence)
                if let record = try write.get(store.events, key.span) { arrivals.include(Record.arrival(record)) }
            }
            let key = SequenceKey(tile)
            try write.put(store.arrivals, key: key.span, value: arrivals.bytes.span.rawBytes)
        }
    }

    private func forgetTree(_ path: String) throws {
        try LogFiles(path: path).change { write, store throws(StorageError) in try write.removeAll(store.tree) }
    }
}
