import Foundation
import TestKit
import Testing

/// After a power cut, a name is in a folder for certain only if the folder was synced. So a new log syncs each of its folders.
struct FolderSyncs {
    /// The calls of a process that creates a log, by their names and paths below `folder`.
    private func calls(_ verb: String, in folder: TemporaryFolder) throws -> [String] {
        let root = folder.url.resolvingSymlinksInPath().path
        let (shim, trace) = (try FaultShim(in: folder.path), try TemporaryFolder())
        let outcome = try FinishedProcess(
            BuiltProgram.url("crashchild"), [verb, root + "/ledger"],
            adding: shim.environment(root: root, ["SHIM_TRACE": trace.path + "/trace", "SHIM_WHOLE": "1"]))
        #expect(outcome.status == 0, "\(outcome.text)")
        return Self.calls([UInt8](try Data(contentsOf: trace.file("trace"))))
    }

    /// The form is described in the shim's source.
    private static func calls(_ bytes: [UInt8]) -> [String] {
        let kinds: [UInt8: String] = [2: "sync", 8: "rename", 10: "file", 11: "folder"]
        func number(_ offset: Int, _ length: Int) -> Int { (0..<length).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
        var (names, calls, place): ([Int: String], [String], Int) = ([:], [], 0)
        while place + 24 <= bytes.count {
            let (kind, path, offset, length) = (bytes[place], number(place + 2, 4), number(place + 8, 8), number(place + 16, 8))
            place += 24
            if kind == 7 { names[path] = String(decoding: bytes[place..<place + length], as: UTF8.self) }
            if [1, 5, 6, 7].contains(kind) { place += length }
            guard let word = kinds[kind], let name = names[path] else { continue }
            calls.append("\(word) \(name)" + (kind == 8 ? " \(names[offset] ?? "")" : ""))
        }
        return calls
    }

    private func expect(_ calls: [String], _ wanted: [String]) throws {
        var left = calls[...]
        for call in wanted {
            let place = try #require(left.firstIndex(of: call), "\(call) is not among \(left)")
            left = left[(place + 1)...]
        }
    }

    @Test func `the folders of a new log are synced: its file's before the log is named, the others after that`() throws {
        let folder = try TemporaryFolder()
        let calls = try calls("create", in: folder)
        let named = "rename /ledger/log/current.new /ledger/log/current"
        try expect(calls, ["file /ledger/log/1/data.mdb", "sync /ledger/log/1", named, "sync /ledger/log"])
        try expect(calls, ["folder /ledger", "folder /ledger/log", named, "sync /ledger"])
        try expect(calls, ["folder /ledger", "sync "])
    }

    @Test func `the folder above a log that was built under another name is synced once it has its own`() throws {
        let folder = try TemporaryFolder()
        let calls = try calls("make", in: folder)
        try expect(calls, ["folder /ledger.new", "sync /ledger.new", "rename /ledger.new /ledger", "sync "])
    }

    @Test func `the size of a checkpoint is synced before the checkpoint is given out`() throws {
        let folder = try TemporaryFolder()
        try expect(try calls("checkpoint", in: folder), ["file /ledger/checkpoints", "sync /ledger/checkpoints"])
    }

    @Test func `a folder that was made and cannot be opened is no reason to try for ever`() throws {
        let folder = try TemporaryFolder()
        let shim = try FaultShim(in: folder.path)
        let outcome = try FinishedProcess(
            BuiltProgram.url("crashchild"), ["make", folder.path + "/ledger"],
            adding: shim.environment(root: folder.path, ["SHIM_SHUT": "/ledger.new"]))
        #expect(outcome.status == 1 && outcome.text.contains("Too many open files"), "\(outcome.text)")
    }
}
