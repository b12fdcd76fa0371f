import Foundation
import TestKit
import Testing

/// Ledgers in which something else is in the place of a file.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(30)))
struct OddFiles {
    enum Kind: CaseIterable {
        case dangling, live, hard, fifo, socket, folder, device
    }

    private static let files = [
        "LOCK", "keys.json", "keys.json.new", "limit", "retention", "log/current", "log/current.new", "log/1/data.mdb",
        "log/1/lock.mdb", "views/nodes/current", "views/nodes/RECIPE/data.mdb", "views/nodes/RECIPE/lock.mdb", "consumers/x.lock",
        "consumers/x", "log", "views", "signing.key",
    ]

    private func made() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("import", tool.write([Line.node(7, long: "A node", short: "A"), Line.text("hello", from: 7)]))
        try tool.run("keys", "add", "Harbour", "--psk", "AQ==")
        try tool.run("limit", "10GB")
        try tool.run("retain", "--policy", "--older-than", "900d")
        try tool.run("follow", "--consumer", "x", "--no-follow")
        return tool
    }

    private func put(_ kind: Kind, at path: String, outside: String) throws {
        let manager = FileManager.default
        try manager.createDirectory(atPath: outside, withIntermediateDirectories: true)
        let target = outside + "/target"
        let isThere = manager.fileExists(atPath: path)
        switch kind {
        case .live where isThere: try manager.moveItem(atPath: path, toPath: target)
        case .live: try Data("precious\n".utf8).write(to: URL(fileURLWithPath: target))
        default: if isThere { try manager.removeItem(atPath: path) }
        }
        if kind == .hard { try Data("precious\n".utf8).write(to: URL(fileURLWithPath: target)) }
        let status: Int32
        switch kind {
        case .hard: status = unsafe link(target, path)
        case .dangling, .live: status = unsafe symlink(target, path)
        case .fifo: status = unsafe mkfifo(path, 0o600)
        case .socket: status = unsafe mknod(path, S_IFSOCK | 0o600, 0)
        case .folder: status = unsafe mkdir(path, 0o700)
        case .device: status = unsafe symlink("/dev/zero", path)
        }
        #expect(status == 0, "\(path)")
    }

    private func outside(_ path: String) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where !name.hasSuffix(".mdb") {
            found[name] = FileManager.default.contents(atPath: path + "/" + name) ?? Data()
        }
        return found
    }

    @Test func `a backup that consists of hard links stays as it was`() throws {
        let made = try made()
        let backup = made.folder.file("backup").path
        #expect(try FinishedProcess(URL(fileURLWithPath: "/bin/cp"), ["-al", made.ledger, backup]).status == 0)
        let log = "/log/1/data.mdb"
        let before = try #require(FileManager.default.contents(atPath: backup + log))
        let more = try made.write([Line.text("more", from: 7)], to: "more.jsonl")
        let refused = try made.run("import", more)
        #expect(refused.status == 65 && refused.errors.contains("2 hard links lead to it"), "\(refused)")
        #expect(try made.run("messages", "--format", "csv").lines.count == 2)
        #expect(FileManager.default.contents(atPath: backup + log) == before)

        try FileManager.default.moveItem(atPath: made.ledger, toPath: made.folder.file("linked").path)
        #expect(
            try FinishedProcess(URL(fileURLWithPath: "/bin/cp"), ["-a", made.folder.file("linked").path, made.ledger]).status == 0
        )
        let taken = try made.run("import", more)
        #expect(taken.status == 0, "\(taken)")
        #expect(FileManager.default.contents(atPath: backup + log) == before)
    }

    @Test(arguments: Kind.allCases) func `a command ends at once, changes nothing outside of the ledger, and says what is there`(
        _ kind: Kind
    ) throws {
        let made = try made()
        let recipe = try #require(
            FileManager.default.contentsOfDirectory(atPath: made.ledger + "/views/nodes").first { $0.hasPrefix("v") })
        for (number, name) in Self.files.enumerated() {
            let file = name.replacingOccurrences(of: "RECIPE", with: recipe)
            for command in [
                ["nodes"], name.hasPrefix("views/") ? ["node", "favorite", "!00000007"] : ["verify"],
                number % 2 == 0 ? ["import", made.folder.file("messages.jsonl").path] : ["rebuild"],
            ] {
                let tool = try Tool()
                try FileManager.default.copyItem(atPath: made.ledger, toPath: tool.ledger)
                let place = tool.folder.file("outside").path
                try put(kind, at: tool.ledger + "/" + file, outside: place)
                let before = try outside(place)
                let outcome = try tool.start(command).waitOrKill("\(command) with \(kind) as \(file)")
                #expect(try outside(place) == before, "\(command) with \(kind) as \(file)")
                #expect([0, 1, 65, 66, 73, 74, 75, 77].contains(outcome.status), "\(command), \(kind) as \(file): \(outcome)")
                #expect(!outcome.errors.contains("Error Domain"), "\(command), \(kind) as \(file): \(outcome.errors)")
            }
        }
    }

    @Test(arguments: Kind.allCases.filter { $0 != .hard && $0 != .device })
    func `an import whose events a view cannot store ends, and says why`(_ kind: Kind) throws {
        for view in ["packets", "nodes"] {
            let tool = try made()
            try put(kind, at: "\(tool.ledger)/views/\(view)/current", outside: tool.folder.file("outside").path)
            let outcome = try tool.run("import", tool.write([Line.text("more", from: 8)], to: "more.jsonl"))
            #expect(outcome.status != 0 && outcome.errors.contains("views/\(view)/current"), "\(view): \(outcome)")
            #expect(!outcome.errors.contains("NSCocoa"))
        }
    }

    @Test func `what salvages, backs up or restores copies plain files only, and waits for nothing`() throws {
        let made = try made()
        let backup = made.folder.file("backup").path
        #expect(try made.run("backup", backup).status == 0)
        for kind in Kind.allCases {
            let tool = try Tool()
            let (ledger, new) = (tool.ledger, tool.folder.file("new").path)
            try FileManager.default.copyItem(atPath: made.ledger, toPath: ledger)
            try FileManager.default.createDirectory(atPath: ledger + "/baselines", withIntermediateDirectories: true)
            let place = tool.folder.file("outside").path
            try put(kind, at: ledger + "/consumers/y", outside: place)
            try put(kind, at: ledger + "/baselines/z", outside: place + "/2")
            let odd = tool.folder.file("odd backup").path
            try FileManager.default.copyItem(atPath: backup, toPath: odd)
            let part = try #require(FileManager.default.subpathsOfDirectory(atPath: odd).first { $0.hasPrefix("files/") })
            try put(kind, at: odd + "/" + part, outside: place + "/3")
            let before = try outside(place)
            for command in [
                ["salvage", ledger, new], ["backup", tool.folder.file("other").path], ["backup", odd],
                ["restore", odd, tool.folder.file("restored").path],
            ] {
                let outcome = try tool.start(command).waitOrKill("\(command) with \(kind)")
                #expect([0, 1, 65, 66, 73, 74].contains(outcome.status), "\(command), \(kind): \(outcome)")
                #expect(!outcome.errors.contains("Error Domain"), "\(command), \(kind): \(outcome.errors)")
                #expect(try outside(place) == before, "\(command) with \(kind)")
                guard command[0] == "salvage" else { continue }
                #expect(
                    outcome.status == 0 && outcome.errors.contains("consumers/y") == (kind != .hard && kind != .folder),
                    "\(outcome)")
            }
            for name in try FileManager.default.subpathsOfDirectory(atPath: new) {
                let type = try FileManager.default.attributesOfItem(atPath: new + "/" + name)[.type] as? FileAttributeType
                #expect(type == .typeRegular || type == .typeDirectory, "\(kind): \(name)")
            }
            #expect(try tool.run("events", "--ledger", new).lines.count == made.run("events").lines.count)
            #expect(FileManager.default.fileExists(atPath: new + "/consumers/x"), "\(kind)")
        }
    }

    @Test func `a recording is written into a FIFO or device as it is, replaces plain files only, and leaves nothing else`()
        throws
    {
        let tool = try made()
        func export(_ file: String) throws -> Tool.Outcome { try tool.run("export", "--format", "ledger", file) }
        let plain = tool.folder.file("plain").path
        #expect(try export(plain).status == 0)
        let bytes = try #require(FileManager.default.contents(atPath: plain))
        #expect(try export(plain).status == 0)
        let link = tool.folder.file("link").path
        #expect(unsafe symlink(plain, link) == 0)
        let refused = try export(link)
        #expect(refused.status == 73 && refused.errors.contains("symbolic link"), "\(refused)")
        #expect(FileManager.default.contents(atPath: plain)?.count == bytes.count)
        let device = tool.folder.file("null").path
        #expect(unsafe symlink("/dev/null", device) == 0)
        #expect(try export(device).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: device) == "/dev/null")
        let fifo = tool.folder.file("fifo").path
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        let copy = tool.folder.file("copy").path
        let reader = try Process.start(URL(fileURLWithPath: "/bin/sh"), ["-c", "cat '\(fifo)' > '\(copy)'"])
        #expect(try export(fifo).status == 0)
        reader.waitUntilExit()
        #expect(FileManager.default.contents(atPath: copy)?.count == bytes.count)
        let nobody = try export(fifo)
        #expect(nobody.status == 73 && nobody.errors.contains("no process is reading"), "\(nobody)")
        let redirected = try tool.shell("\"$0\" export --format ledger /dev/stdout > '\(copy)'")
        #expect(redirected.status == 0 && FileManager.default.contents(atPath: copy)?.count == bytes.count)
    }

    @Test func `a process that may open too few files, or has no room for its threads, says so and begins nothing`() throws {
        let tool = try made()
        for (limit, word) in [
            ("-n 5", "5 files"), ("-n 16", "16 files"), ("-n 40", "40 files"), ("-n 60", "60 files"), ("-n 200", "200 files"),
            ("-v 160000", "156 MB of address space"), ("-v 280000", "273 MB of address space"),
            ("-v 500000", "488 MB of address space"),
            // Started with many files open.
            ("-n 300; for n in $(seq 3 230); do eval \"exec $n</dev/null\"; done", "started with"),
        ] {
            let shell = ["/bin/bash", "-c", "ulimit \(limit); exec \"$0\" verify", Tool.program.path]
            let outcome = try tool.start([], by: shell).waitOrKill()
            let text = outcome.errors
            #expect(outcome.status == 74 && text.contains(word) && text.contains("ulimit"), "\(text)")
        }
    }

    @Test func `the process that verifies ends when its parent is killed`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "50", "--packets", "30000")
        let begin = Date()
        #expect(try tool.run("verify").status == 0)
        let whole = Date().timeIntervalSince(begin)
        let parent = try tool.start(["verify"])
        var child: Int32?
        while child == nil, parent.process.isRunning { child = Self.child(of: parent.process.processIdentifier) }
        let process = try #require(child)
        usleep(UInt32(whole * 200_000))
        kill(parent.process.processIdentifier, SIGKILL)
        let killed = Date()
        while Self.isRunning(process), Date().timeIntervalSince(killed) < 2 * whole { usleep(2_000) }
        #expect(Date().timeIntervalSince(killed) < whole / 3, "a whole run takes \(whole) s")
        _ = try parent.wait()
    }

    private static func child(of parent: Int32) -> Int32? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.first { fields($0).map { $0.count > 1 && $0[1] == String(parent) } ?? false }
    }

    /// Of a process that has ended, and that nobody has waited for, the state is Z.
    private static func isRunning(_ process: Int32) -> Bool { fields(process).map { $0[0] != "Z" && $0[0] != "X" } ?? false }

    private static func fields(_ process: Int32) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8), let end = text.lastIndex(of: ")")
        else {
            return nil
        }
        return text[text.index(after: end)...].split(separator: " ")
    }
}
