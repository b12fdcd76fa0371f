import Foundation
import TestKit
import Testing

/// Processes of other containers and of other users at one ledger.
@Suite(.enabled(if: Tool.isBuilt && getuid() == 0, "needs the built command, and root"), .timeLimit(.minutes(30)))
struct OtherProcesses {
    /// In which each command is process 1.
    private static let container = [
        "/usr/bin/unshare", "-p", "-f", "--mount-proc", "--kill-child", Tool.program.path,
    ]

    private func end(_ running: Tool.Running, _ signal: Int32 = SIGKILL) throws {
        kill(running.process.processIdentifier, signal)
        running.process.waitUntilExit()
    }

    @Test func `processes of two containers that have one process id are not taken for one`() throws {
        let tool = try Tool(holding: [Line.node(7, long: "A node", short: "A"), Line.text("hello", from: 7)])
        let more = try tool.write([Line.text("more", from: 7, time: 1_760_000_100)], to: "more.jsonl")
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"], by: Self.container)
        defer { kill(writer.process.processIdentifier, SIGKILL) }
        try writer.wait(for: "trying again")
        for command in [
            ["nodes"], ["stats"], ["events"], ["verify"], ["import", more], ["keys", "add", "Harbour", "--psk", "AQ=="], ["seal"],
            ["erase", "--sequence", "1", "--yes"], ["compact"], ["follow", "--consumer", "x", "--no-follow"],
            ["messages", "--as-of", "1"],
        ] {
            let outcome = try tool.start(command, by: Self.container).wait()
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
        let second = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"], by: Self.container)
        defer { kill(second.process.processIdentifier, SIGKILL) }
        // It stores through the writer of the other container.
        try second.wait(for: "trying again")
        try end(second)
        try end(writer)
        #expect(try tool.run("verify").status == 0)
        #expect(try tool.run("messages", "--format", "jsonl").objects.count == 2)
    }

    @Test func `what the superuser makes in a user's ledger is the user's, and each reaches the writer of the other`() throws {
        let tool = try Tool()
        let program = tool.folder.file("meshledger").path
        try FileManager.default.copyItem(atPath: Tool.program.path, toPath: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: tool.folder.path)
        let user = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program]
        func run(_ command: [String], by starter: [String] = []) throws {
            let outcome = try tool.start(command, by: starter).wait()
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
        let file = try tool.write([Line.node(7, long: "A node", short: "A"), Line.text("hello", from: 7)])
        try run(["init"], by: user)
        for command in [
            ["import", file], ["simulate", "--nodes", "9", "--packets", "600"], ["keys", "add", "Harbour", "--psk", "AQ=="],
            ["seal"],
            ["erase", "--sequence", "1", "--yes"], ["compact"], ["limit", "10GB"],
            ["retain", "--policy", "--older-than", "900d"],
            ["retain", "--larger-than", "1kB", "--yes"], ["follow", "--consumer", "x", "--no-follow"],
            ["rebuild", "nodes", "--keep"],
            ["rebuild", "nodes", "--back"], ["rebuild"], ["nodes", "--as-of", "599"], ["checkpoint"],
        ] { try run(command) }
        try expectOwner(tool)
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"], by: user)
        defer { kill(writer.process.processIdentifier, SIGKILL) }
        try writer.wait(for: "trying again")
        try run(["keys", "add", "Pier", "--psk", "AQ=="])
        try end(writer, SIGTERM)
        let other = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        defer { kill(other.process.processIdentifier, SIGKILL) }
        try other.wait(for: "trying again")
        try expectOwner(tool)
        try run(["keys", "add", "Quay", "--psk", "AQ=="], by: user)
        try end(other, SIGTERM)
        try run(["verify"], by: user)
        try run(["rebuild"], by: user)
    }

    private func expectOwner(_ tool: Tool) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: tool.ledger) {
            let owner = try FileManager.default.attributesOfItem(atPath: tool.ledger + "/" + name)[.ownerAccountID] as? Int
            #expect(owner == 65_534, "\(name)")
        }
    }
}

/// Writers and commands at a ledger that others use, or that has gone away.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(30)))
struct LedgersOfOthers {
    private func listener(_ tool: Tool) throws -> Tool.Running {
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        try writer.wait(for: "trying again")
        return writer
    }

    @Test func `an ingest waits for a command that writes, and says so`() throws {
        let tool = try Tool()
        try tool.run("init")
        let lock = unsafe open(tool.ledger + "/LOCK", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let ingest = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        defer { kill(ingest.process.processIdentifier, SIGKILL) }
        try ingest.wait(for: "waiting up to 15 s")
        let looks = try FileOpens(of: tool.ledger + "/LOCK")
        try waitUntil { looks.count() >= 10 || !ingest.process.isRunning }
        close(lock)
        try ingest.wait(for: "trying again")
        ingest.process.terminate()
        let outcome = try ingest.wait()
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func `rebuild compares, keeps and goes back beside a writer as without one`() throws {
        let (alone, beside) = (try Tool(), try Tool())
        try alone.run("init")
        try alone.run("simulate", "--nodes", "20", "--packets", "2000")
        try FileManager.default.copyItem(atPath: alone.ledger, toPath: beside.ledger)
        let writer = try listener(beside)
        defer { kill(writer.process.processIdentifier, SIGKILL) }
        let donor = try Tool()
        try donor.run("init")
        try donor.run("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        var outputs: [[String]] = [[], []]
        for (place, tool) in [alone, beside].enumerated() {
            for command in [
                ["nodes", "--diff"], ["nodes", "--keep"], ["nodes", "--back"], ["nodes", "--back"], ["messages", "--back"],
            ] {
                let outcome = try tool.start(["rebuild"] + command).wait()
                outputs[place].append(
                    "\(command) \(outcome.status) \(outcome.output)\(outcome.status == 0 ? outcome.errors : "")")
            }
            // Keys that the writer has not heard of yet: what they would change.
            try Data(contentsOf: URL(fileURLWithPath: donor.ledger + "/keys.json"))
                .write(to: URL(fileURLWithPath: tool.ledger + "/keys.json"))
            outputs[place].append(try tool.run("rebuild", "messages", "--diff", "--format", "jsonl").output)
        }
        #expect(outputs[0] == outputs[1])
        #expect(outputs[1][0].contains("no row would change"))
        #expect(outputs[1].last?.contains("Harbour") == true)
    }

    @Test func `no command follows a writer whose ledger was moved, and that writer touches nothing of the new one`() throws {
        let tool = try Tool()
        let (moved, manager) = (tool.ledger + ".old", FileManager.default)
        try tool.run("init")
        let old = try listener(tool)
        defer { kill(old.process.processIdentifier, SIGKILL) }
        let pipe = Pipe.ofOneChild()
        let importing = try tool.start(["import", "-"], input: pipe.fileHandleForReading)
        let line = Data((Line.text("hello", from: 7) + "\n").utf8)
        pipe.fileHandleForWriting.write(line.prefix(9))
        // It begins to read once it has a connection to the writer.
        try waitUntil { pipe.unreadCount == 0 }
        try manager.moveItem(atPath: tool.ledger, toPath: moved)
        try tool.run("init")
        let new = try listener(tool)
        defer { kill(new.process.processIdentifier, SIGKILL) }
        let keys = try? Data(contentsOf: URL(fileURLWithPath: tool.ledger + "/keys.json"))
        let late = try tool.run("keys", "add", "Pier", "--psk", "AQ==", "--ledger", moved)
        #expect(late.status != 0 && late.errors.contains("moved"), "\(late)")
        #expect((try? Data(contentsOf: URL(fileURLWithPath: tool.ledger + "/keys.json"))) == keys)
        pipe.fileHandleForWriting.write(line.dropFirst(9))
        try pipe.fileHandleForWriting.close()
        let outcome = try importing.wait()
        #expect(outcome.status != 0 && outcome.errors.contains("moved"), "\(outcome)")
        old.process.terminate()
        old.process.waitUntilExit()
        let reached = try tool.run("keys", "add", "Pier", "--psk", "AQ==")
        #expect(reached.status == 0, "\(reached)")
        #expect(try tool.run("events").lines.count <= 1)
        new.process.terminate()
        new.process.waitUntilExit()
    }

    @Test func `a ledger that is moved away under an ingest of a file is reported once`() throws {
        let tool = try Tool()
        try tool.run("init")
        let file = try tool.write([Line.text("hello", from: 7)])
        let ingest = try tool.start(["ingest", "file", file, "--follow"])
        defer { kill(ingest.process.processIdentifier, SIGKILL) }
        try ingest.wait(for: "following")
        try FileManager.default.moveItem(atPath: tool.ledger, toPath: tool.ledger + ".old")
        try tool.append([Line.text("more", from: 8)], to: file)
        let outcome = try ingest.wait()
        #expect(outcome.status == 74, "\(outcome)")
        let lines = outcome.errors.split(whereSeparator: \.isNewline)
        #expect(lines.count { $0.contains("moved, removed or replaced") } == 1, "\(outcome)")
        #expect(lines.last?.contains("moved, removed or replaced") == true, "\(outcome)")
    }

    @Test func `verify finds no fault in what an erasure is about to finish, and no erasure fails because of it`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "30", "--packets", "12000")
        for round in 0..<8 {
            let erasing = try tool.start(["erase", "--sequence", "\(round * 613 + 100)", "--yes"])
            repeat {
                let outcome = try tool.run("verify")
                #expect(outcome.status == 0, "\(round): \(outcome)")
            } while erasing.process.isRunning
            let outcome = try erasing.wait()
            #expect(outcome.status == 0, "\(round): \(outcome.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.ledger)
        #expect(!names.contains { $0.hasPrefix("views-removed") }, "\(names)")
    }

    @Test(arguments: ["/views/erased", "/views/nodes/kept", "/views/nodes/current"])
    func `nothing is removed because a file cannot be opened`(_ file: String) throws {
        let tool = try Tool(holding: [Line.node(7, long: "A node", short: "A"), Line.text("hello", from: 7)])
        try tool.run("erase", "--sequence", "2", "--yes")
        try tool.run("rebuild", "nodes", "--keep")
        func views() throws -> Set<String> {
            Set(try FileManager.default.subpathsOfDirectory(atPath: tool.ledger + "/views").filter { $0.hasSuffix("data.mdb") })
        }
        let before = try views()
        #expect(before.count { $0.hasPrefix("nodes/") } == 2)
        let shim = try FaultShim(in: tool.folder.path)
        let marks = try Dictionary(uniqueKeysWithValues: before.map { ($0, try inode(tool.ledger + "/views/" + $0)) })
        let more = try tool.write([Line.text("more", from: 8)], to: "more.jsonl")
        for command in [["import", more], ["rebuild", "nodes"]] {
            let outcome = try tool.start(command, environment: shim.environment(root: tool.ledger, ["SHIM_SHUT": file])).wait()
            #expect(outcome.status == 74 && outcome.errors.contains("open"), "\(command): \(outcome)")
            for (name, mark) in marks { #expect(try inode(tool.ledger + "/views/" + name) == mark, "\(command): \(name)") }
        }
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `no exit handler runs, so that none removes what a background thread still uses`() throws {
        let tool = try Tool(holding: [Line.node(7, long: "A node", short: "A"), Line.text("hello", from: 7)])
        let more = try tool.write([Line.text("more", from: 8)], to: "more.jsonl")
        let (shim, mark) = (try FaultShim(in: tool.folder.path), tool.folder.file("exit").path)
        let environment = shim.environment(root: tool.ledger, ["SHIM_EXIT": mark])
        let other = try tool.start([], environment: environment, by: ["/bin/true"])
        _ = try other.wait()
        #expect(FileManager.default.fileExists(atPath: mark), "the shim notices an exit")
        try FileManager.default.removeItem(atPath: mark)
        for (command, status) in [
            (["import", more], 0), (["nodes"], 0), (["seal"], 0), (["messages", "--as-of", "1"], 0), (["verify"], 0),
            (["rebuild"], 0),
            (["nodes", "--wrong"], 64), (["import", "missing.jsonl"], 66), (["--help"], 0), (["--version"], 0),
            (["help", "nodes"], 0),
            (["--generate-completion-script", "bash"], 0),
        ] as [([String], Int32)] {
            let outcome = try tool.start(command, environment: environment).wait()
            #expect(outcome.status == status, "\(command): \(outcome)")
            #expect(!FileManager.default.fileExists(atPath: mark), "\(command)")
        }
    }

    private func inode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    }

    @Test(arguments: [true, false])
    func `a view that is gone is made again when a command needs it, also by a process that has nothing to write`(hasWriter: Bool)
        throws
    {
        let tool = try Tool(holding: [Line.node(7, long: "A node", short: "A"), Line.text("hello", from: 7)])
        let file = try tool.write([], to: "more.jsonl")
        let writer = hasWriter ? try tool.start(["ingest", "file", file, "--follow"]) : nil
        defer { if let writer { kill(writer.process.processIdentifier, SIGKILL) } }
        if let writer { try writer.wait(for: "following") }
        for command in [["nodes"], ["nodes", "note", "!00000007", "here"], ["nodes", "note", "A node", "there"]] {
            try FileManager.default.removeItem(atPath: tool.ledger + "/views/nodes")
            let outcome = try tool.start(command).wait()
            #expect(outcome.status == 0, "\(command): \(outcome)")
        }
        #expect(try tool.run("nodes", "--format", "jsonl").lines.count == 1)
    }
}
