import EventLog
import Foundation
import LogTransfer
import MeshCrypto
import ProtobufWire
import TestKit

/// Backups in the hands of somebody who can write their files: what is restored from them is checked as a ledger is.
extension TamperedLedger {
    private var backup: String { scratch.path + "/backup" }
    private var forgedBackup: String { scratch.path + "/forged-backup" }

    /// The ledger at its place was tampered with: a backup of it, made as a backup should be, restores to what does not pass.
    func expectFoundInBackup(_ what: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: forgedBackup) }  // the next one makes it again
        do throws(EventLogError) {
            var options = Self.options
            options.access = .readOnly
            let log = try EventLog.open(at: path, options: options)
            do throws(EventLogError) {
                try log.backup(to: forgedBackup)
            } catch {
                await log.close()
                throw error
            }
            await log.close()
        } catch {
            return  // refused
        }
        if try await restoredProblems(forgedBackup).isEmpty {
            throw Failure("\(what) is not found in what its backup restores to")
        }
    }

    /// Changes files of the owner's backup, with all hashes made right again: what then is restored and passes has the events that were in it.
    func changeBackup(_ generator: inout SeededGenerator, _ what: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: forgedBackup) }  // the next one makes it again
        try FileManager.default.copyItem(atPath: backup, toPath: forgedBackup)
        guard try await restoredProblems(backup).isEmpty else { throw Failure("\(what): the untouched backup does not pass") }
        let kind = Int.random(in: 0..<5, using: &generator)
        switch kind {
        case 0: try await replaceByEarlier()
        case 1:
            try changePart {
                $0[Int.random(in: 0..<$0.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
        case 2: try changePart { $0.removeLast(Int.random(in: 1..<$0.count, using: &generator)) }
        case 3:
            try changePart { part in
                let places = (0..<2).map { _ in Int.random(in: 16..<part.count - 64, using: &generator) }
                let moved = Array(part[places[0]..<places[0] + 48])
                part.replaceSubrange(places[1]..<places[1] + 48, with: moved)
            }
        default: try changeManifest(&generator)
        }
        let problems = try await restoredProblems(forgedBackup) { log in
            let events = try log.events(in: EventSequence(1)...log.head)
            guard events == truth else { throw Failure("\(what): a changed backup (\(kind)) passes with other events") }
        }
        if kind < 4, problems.isEmpty, kind != 3 { throw Failure("\(what): a changed backup (\(kind)) passes") }
    }

    /// Restores, and checks the outcome with the note and the public key that were kept elsewhere.
    /// - Parameter intact: gets what passes.
    private func restoredProblems(_ backup: String, intact: (EventLog) throws -> Void = { _ in }) async throws -> [String] {
        let restored = scratch.path + "/restored"
        defer { try? FileManager.default.removeItem(atPath: restored) }  // the next one makes it again
        do throws(EventLogError) {
            _ = try EventLog.checkBackup(backup)
            _ = try await EventLog.restore(backup, to: restored)
        } catch {
            return ["\(error)"]
        }
        let problems = try await problems(of: restored, with: true)
        guard problems.isEmpty else { return problems }
        var options = Self.options
        options.access = .readOnly
        let log = try EventLog.open(at: restored, options: options)
        do {
            try intact(log)
        } catch {
            await log.close()
            throw error
        }
        await log.close()
        return []
    }

    /// A backup of an earlier state, with fewer events than the checkpoint covers.
    private func replaceByEarlier() async throws {
        try FileManager.default.removeItem(atPath: forgedBackup)
        var options = Self.options
        options.access = .readOnly
        let log = try EventLog.open(at: scratch.path + "/earlier", options: options)
        try log.backup(to: forgedBackup)
        await log.close()
    }

    /// Changes a part, and the list so that it names it.
    private func changePart(_ body: (inout [UInt8]) -> Void) throws {
        let name = try FileManager.default.contentsOfDirectory(atPath: forgedBackup + "/parts").sorted()[0]
        let path = forgedBackup + "/parts/" + name
        var part = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let before = Hexadecimal.text(SHA256.hash(part))
        let size = part.count
        body(&part)
        let after = Hexadecimal.text(SHA256.hash(part))
        try FileManager.default.removeItem(atPath: path)
        let first = name.prefix { $0 != "-" }
        let renamed = "\(first)-\(after.prefix(16))"
        try Data(part).write(to: URL(fileURLWithPath: forgedBackup + "/parts/" + renamed))
        try replaceManifest { $0.replacing(" \(size) \(before) ", with: " \(part.count) \(after) ") }
    }

    /// Another number, or one line less.
    private func changeManifest(_ generator: inout SeededGenerator) throws {
        try replaceManifest { text in
            var lines = text.split(separator: "\n").map(String.init)
            let place = Int.random(in: 1..<lines.count, using: &generator)
            var line = Array(lines[place])
            let digits = line.indices.filter { line[$0].isHexDigit }
            if let digit = digits.randomElement(using: &generator), Int.random(in: 0..<4, using: &generator) > 0 {
                line[digit] = line[digit] == "1" ? "2" : "1"
                lines[place] = String(line)
            } else {
                lines.remove(at: place)
            }
            return lines.joined(separator: "\n") + "\n"
        }
    }

    private func replaceManifest(_ body: (String) -> String) throws {
        let path = forgedBackup + "/manifest"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let end = text.range(of: "sha256 ", options: .backwards) else { throw Failure("no list") }
        let lines = body(String(text[..<end.lowerBound]))
        try (lines + "sha256 \(Hexadecimal.text(SHA256.hash(Array(lines.utf8))))\n").write(
            toFile: path, atomically: false, encoding: .utf8)
    }
}
