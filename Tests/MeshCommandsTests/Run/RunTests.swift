import Foundation
import Glibc
import MeshIngest
import MeshLedger
import Synchronization
import TestKit
import Testing

@testable import MeshCommands

/// `run` as a process, with files as sources.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(3)))
struct RunTests {
    private func configure(_ tool: Tool, _ names: [String]) throws -> String {
        let sources = names.map { "  - file: \(tool.folder.file($0).path)\n" }.joined()
        let file = tool.folder.file("mesh.yaml")
        try Data("log: {format: json}\nsources:\n\(sources)".utf8).write(to: file)
        return file.path
    }

    private func statuses(_ tool: Tool) throws -> [String: [String: Any]] {
        let outcome = try tool.run("status", "--format", "jsonl")
        return Dictionary(uniqueKeysWithValues: outcome.objects.map { ($0["source"] as? String ?? "", $0) })
    }

    @Test
    func `it tells its manager when it is ready, reloads without touching what did not change, and ends with everything stored`()
        throws
    {
        let tool = try Tool()
        try tool.run(
            "simulate", "--nodes", "10", "--packets", "300", "--bad", "0", "--to", tool.folder.file("one").path, "--as",
            "envelopes")
        try tool.run(
            "simulate", "--seed", "2", "--nodes", "10", "--packets", "200", "--bad", "0", "--to", tool.folder.file("two").path,
            "--as", "envelopes")
        let manager = try Manager(tool.folder.file("notify").path)
        let config = try configure(tool, ["one", "missing"])
        let running = try tool.start(
            ["run", config], environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try manager.wait(for: "READY=1")
        try waitUntil { try statuses(tool)["file:one"]?["state"] as? String == "live" }
        let before = try #require(try statuses(tool)["file:one"])
        #expect(try statuses(tool)["file:missing"]?["state"] as? String == "waiting for the file")
        try manager.wait(for: "WATCHDOG=1")
        _ = try configure(tool, ["one", "two"])
        kill(running.process.processIdentifier, SIGHUP)
        try waitUntil { try statuses(tool)["file:two"]?["state"] as? String == "live" }
        let after = try statuses(tool)
        #expect(after.keys.sorted() == ["file:one", "file:two"])
        #expect(
            after["file:one"]?["since"] as? String == before["since"] as? String && after["file:one"]?["connections"] as? Int == 1
        )
        // A mistake in the file changes nothing.
        try Data("sources:\n  - tpc: x\n".utf8).write(to: URL(fileURLWithPath: config))
        kill(running.process.processIdentifier, SIGHUP)
        try running.wait(for: "everything continues as before")
        #expect(try statuses(tool).count == 2)
        let begun = ContinuousClock.now
        kill(running.process.processIdentifier, SIGTERM)
        let outcome = try running.wait()
        #expect(outcome.status == 0 && ContinuousClock.now - begun < .seconds(10), "\(outcome.errors)")
        try manager.wait(for: "STOPPING=1")
        let lines = outcome.errors.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String]
        }
        #expect(lines.count == outcome.errors.split(separator: "\n").count)
        #expect(lines.contains { $0["source"] == "file:one" && $0["level"] == "info" })
        let stored = (after["file:one"]?["stored"] as? Int ?? 0) + (after["file:two"]?["stored"] as? Int ?? 0)
        #expect(lines.last?["message"] == "stopped: \(stored) events stored, views flushed")
        #expect(stored >= 500)
        #expect(try tool.run("stats", "--format", "csv").output.contains("events,\(stored)"))
    }

    @Test func `a configuration whose retention cannot be stored changes no source either`() throws {
        let tool = try Tool()
        let file = try configure(tool, ["one"])
        let running = try tool.start(["run", file])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try waitUntil { try statuses(tool)["file:one"] != nil }
        // The policy's file cannot replace a folder.
        try FileManager.default.createDirectory(atPath: tool.ledger + "/retention", withIntermediateDirectories: false)
        let other = tool.folder.file("two").path
        try Data("log: {format: json}\nsources:\n  - file: \(other)\nretention:\n  older-than: 1y\n".utf8)
            .write(to: URL(fileURLWithPath: file))
        kill(running.process.processIdentifier, SIGHUP)
        try running.wait(for: "everything continues as before")
        #expect(try statuses(tool).keys.sorted() == ["file:one"])
        kill(running.process.processIdentifier, SIGTERM)
        #expect(try running.wait().status == 0)
    }

    @Test func `a source that fails is shown as failed, and the others go on`() throws {
        let tool = try Tool()
        let config = tool.folder.file("mesh.yaml")
        try FileManager.default.createDirectory(at: tool.folder.file("folder"), withIntermediateDirectories: false)
        try Data("sources:\n  - file: \(tool.folder.file("folder").path)\n  - file: \(tool.folder.file("later").path)\n".utf8)
            .write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try waitUntil { try statuses(tool)["file:folder"]?["state"] as? String == "failed" }
        let failed = try statuses(tool)["file:folder"]
        #expect((failed?["last_error"] as? String)?.contains("only files can be followed") == true)
        try tool.run("simulate", "--packets", "50", "--bad", "0", "--to", tool.folder.file("later").path, "--as", "envelopes")
        try waitUntil { try statuses(tool)["file:later"]?["stored"] as? Int ?? 0 >= 50 }
        kill(running.process.processIdentifier, SIGINT)
        #expect(try running.wait().status == 0)
        let none = try tool.run("status")
        #expect(none.status == ExitStatus.noInput.rawValue && none.errors.contains("no process with live sources"))
        let nowhere = try tool.run("status", "--ledger", tool.folder.file("nowhere").path)
        #expect(nowhere.status == ExitStatus.noInput.rawValue && nowhere.errors.contains("there is no ledger"), "\(nowhere)")
    }

    @Test func `what retention drops while it runs is in its log`() throws {
        let tool = try Tool()
        let file = tool.folder.file("later").path
        try tool.run("simulate", "--packets", "20000", "--bad", "0", "--to", file, "--as", "envelopes")
        let config = tool.folder.file("mesh.yaml")
        try Data("sources:\n  - file: \(file)\nretention:\n  larger-than: 1MB\n".utf8).write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try running.wait(for: "retention dropped the events 1 to ")
        kill(running.process.processIdentifier, SIGTERM)
        #expect(try running.wait().status == 0)
    }

    @Test func `a SIGHUP during the start is obeyed after it, and a watched status survives the end of run`() async throws {
        let tool = try Tool(holding: [Line.text("hello", from: 7)])
        var options = LedgerOptions()
        options.isControllable = false
        let other = try await Ledger.open(at: tool.ledger, options: options)
        let running = try tool.start(["run", try configure(tool, ["one"])])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try running.wait(for: "waiting up to 15 s")
        kill(running.process.processIdentifier, SIGHUP)
        try await other.close()
        try running.wait(for: "was read again")
        let watching = try tool.start(["status", "--watch", "--format", "csv"])
        defer { kill(watching.process.processIdentifier, SIGKILL) }
        try waitUntil { try !statuses(tool).isEmpty }
        kill(running.process.processIdentifier, SIGTERM)
        #expect(try running.wait().status == 0)
        try watching.wait(for: "no process with live sources")
        #expect(watching.process.isRunning)
    }

    @Test func `18.13: status and stats say at once that the process that writes is suspended`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 7)])
        let running = try tool.start(["run", try configure(tool, ["later"])])
        let process = running.process.processIdentifier
        defer { kill(process, SIGKILL) }
        try waitUntil { try !statuses(tool).isEmpty }
        kill(process, SIGSTOP)
        let (status, stats) = (try tool.run("status"), try tool.run("stats"))
        let all = try tool.run("stats", "--format", "json").objects.first
        let words = "it is suspended; resume it with `kill -CONT \(process)`"
        #expect(status.status == ExitStatus.locked.rawValue && status.errors.contains(words), "\(status.errors)")
        #expect(
            stats.status == 0 && stats.output.contains("process \(process), which does not respond: \(words)"), "\(stats.output)")
        #expect(all?["writer"] as? Int == Int(process) && all?["writer_does_not_respond"] as? String == words)
        kill(process, SIGCONT)
        #expect(try statuses(tool).count == 1)
        #expect(try tool.run("stats", "--format", "json").objects.first?["degraded"] as? Bool == false)
    }

    @Test func `18.13: status and stats say that the process that writes does not respond`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 7)])
        let descriptor = try Self.bind(tool.ledger + "/control.sock", SOCK_STREAM)
        defer { close(descriptor) }
        #expect(Glibc.listen(descriptor, 4) == 0)
        let running = [try tool.start(["status"]), try tool.start(["stats"])]
        let (status, stats) = (try running[0].wait(), try running[1].wait())
        let words = "it did not respond for 30 s"
        #expect(status.status == ExitStatus.locked.rawValue && status.errors.contains(words), "\(status.errors)")
        #expect(
            stats.status == 0 && stats.output.contains("process \(getpid()), which does not respond: \(words)"), "\(stats.output)"
        )
    }

    @Test func `two sources that follow one file under two names store it once, and neither fails`() throws {
        let tool = try Tool()
        let (config, names) = (tool.folder.file("mesh.yaml"), ["a", "b"].map { tool.folder.file($0) })
        try tool.run("simulate", "--packets", "20000", "--bad", "0", "--to", names[0].path, "--as", "envelopes")
        try FileManager.default.linkItem(at: names[0], to: names[1])
        try Data("sources:\n\(names.map { "  - file: \($0.path)\n" }.joined())".utf8).write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try waitUntil { try statuses(tool).values.count { $0["state"] as? String == "live" } == 2 }
        kill(running.process.processIdentifier, SIGTERM)
        let outcome = try running.wait()
        #expect(outcome.status == 0 && !outcome.errors.contains("error"), "\(outcome.errors)")
        #expect(try tool.run("stats", "--format", "csv").output.contains("events,20000"))
    }

    @Test func `a source that failed starts again on SIGHUP, and one without its password file affects no other`() throws {
        let tool = try Tool()
        let (config, password) = (tool.folder.file("mesh.yaml"), tool.folder.file("password").path)
        let broker = "  - mqtt: mqtt://user@127.0.0.1:1/a\n    password-file: \(password)\n"
        try Data("sources:\n\(broker)  - file: \(tool.folder.file("later").path)\n".utf8).write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        let name = "mqtt://127.0.0.1:1/a/#"
        try waitUntil { try statuses(tool)[name]?["state"] as? String == "failed" }
        #expect((try statuses(tool)[name]?["last_error"] as? String)?.contains("password does not exist") == true)
        #expect(try statuses(tool)["file:later"]?["state"] as? String != "failed")
        try Data("secret\n".utf8).write(to: URL(fileURLWithPath: password))
        kill(running.process.processIdentifier, SIGHUP)
        try waitUntil { try statuses(tool)[name]?["state"] as? String == "waiting to retry" }
        kill(running.process.processIdentifier, SIGTERM)
        #expect(try running.wait().status == 0)
    }

    @Test func `a source that is set up again after a failure counts on`() async throws {
        let (folder, ledger) = (try TemporaryFolder(), try await Ledger.temporary())
        let file = folder.file("log")
        func write(_ range: Range<Int>) throws {
            try Data(range.map { Line.text("line \($0)", from: 0x11) + "\n" }.joined().utf8).write(to: file)
        }
        let config = try RunConfig(text: "sources:\n  - file: \(file.path)", file: "mesh.yaml")
        let source = RetriedSource(try #require(config.sources.first), into: ledger, logger: RunLog.logger(.text), pause_s: 1)
        let task = Task { await source.run() }
        try write(0..<10)
        try await eventually { source.status.receivedCount == 10 }
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try await eventually { source.status.state == .failed }
        try FileManager.default.removeItem(at: file)
        try write(10..<15)
        try await eventually { source.status.state == .live }
        let status = source.status
        #expect(status.receivedCount == 15 && status.storedCount == 15 && status.connectionCount == 2, "\(status)")
        task.cancel()
        await task.value
        try await ledger.close()
    }

    @Test func `run ends with an error when its ledger is gone`() throws {
        let tool = try Tool()
        let config = tool.folder.file("mesh.yaml")
        try Data("sources:\n  - file: \(tool.folder.file("later").path)\n".utf8).write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try waitUntil { try !statuses(tool).isEmpty }
        try FileManager.default.removeItem(atPath: tool.ledger)
        let outcome = try running.wait()
        #expect(outcome.status == ExitStatus.inputOutput.rawValue && outcome.errors.contains("moved, removed or replaced"))
    }

    @Test func `the rest of a file that was rotated while nobody followed it is read first`() throws {
        let tool = try Tool()
        let (config, log) = (tool.folder.file("mesh.yaml"), tool.folder.file("log"))
        let lines = (0..<60).map { Line.text("line \($0)", from: 0x11) }
        func write(_ range: Range<Int>, to file: URL) throws {
            try Data((lines[range].joined(separator: "\n") + "\n").utf8).write(to: file)
        }
        try write(0..<40, to: log)
        try Data("sources:\n  - file: \(log.path)\n".utf8).write(to: config)
        for stored in [40, 60] {
            let running = try tool.start(["run", config.path])
            defer { kill(running.process.processIdentifier, SIGKILL) }
            try waitUntil { try statuses(tool)["file:log"]?["stored"] as? Int ?? 0 >= (stored == 40 ? 40 : 20) }
            kill(running.process.processIdentifier, SIGTERM)
            #expect(try running.wait().status == 0)
            #expect(try tool.run("stats", "--format", "csv").output.contains("events,\(stored)"))
            if stored == 40 {
                try write(0..<50, to: tool.folder.file("log.1"))
                try write(20..<30, to: tool.folder.file("log.2"))  // never followed
                try write(50..<60, to: log)
            }
        }
    }

    @Test func `recordings of other ledgers are imported, and again when they hold more; one that is cut short waits`() throws {
        let (tool, other) = (try Tool(), try Tool())
        let folder = tool.folder.file("recordings")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try other.run("init")
        try other.run("simulate", "--nodes", "10", "--packets", "200", "--bad", "0")
        let whole = other.folder.file("whole.recording")
        #expect(try other.run("export", "--format", "ledger", whole.path).status == 0)
        let bytes = try Data(contentsOf: whole)
        try bytes.prefix(bytes.count / 2).write(to: folder.appendingPathComponent("one"))
        try Data("not a recording".utf8).write(to: folder.appendingPathComponent("readme"))
        let config = tool.folder.file("mesh.yaml")
        let later = tool.folder.file("later").path
        let sources = "sources:\n  - recording: \(folder.path)\n  - file: \(later)\n  - recording: \(later)\n"
        try Data((sources + "sealing:\n  newest: 1000\n").utf8).write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        let name = "recording:\(folder.path)"
        try waitUntil { try statuses(tool)[name]?["state"] as? String == "waiting to retry" }
        #expect(try statuses(tool)[name]?["stored"] as? Int == 0)
        #expect(try statuses(tool)["recording:\(later)"]?["state"] as? String == "waiting for the file")
        try bytes.write(to: folder.appendingPathComponent("one"))
        try waitUntil { try statuses(tool)[name]?["state"] as? String == "live" }
        let first = try statuses(tool)[name]?["stored"] as? Int ?? 0
        #expect(first >= 200)
        try other.run("simulate", "--seed", "2", "--nodes", "10", "--packets", "100", "--bad", "0")
        #expect(try other.run("export", "--format", "ledger", folder.appendingPathComponent("one").path).status == 0)
        try waitUntil { try statuses(tool)[name]?["stored"] as? Int ?? 0 >= first + 100 }
        kill(running.process.processIdentifier, SIGTERM)
        #expect(try running.wait().status == 0)
        #expect(try tool.run("messages", "--format", "csv").output == other.run("messages", "--format", "csv").output)
    }

    @Test func `a recording that is still being copied is not called damaged`() throws {
        let (tool, other) = (try Tool(), try Tool())
        try other.run("init")
        try other.run("simulate", "--nodes", "10", "--packets", "200", "--bad", "0")
        let whole = other.folder.file("whole.recording")
        #expect(try other.run("export", "--format", "ledger", whole.path).status == 0)
        let (bytes, copy, config) = (try Data(contentsOf: whole), tool.folder.file("copy"), tool.folder.file("mesh.yaml"))
        try bytes.prefix(bytes.count / 2).write(to: copy)
        try Data("sources:\n  - recording: \(copy.path)\n".utf8).write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        let name = "recording:\(copy.path)"
        try waitUntil { try statuses(tool)[name]?["state"] as? String == "replaying" }
        try bytes.write(to: copy)
        try waitUntil { try statuses(tool)[name]?["state"] as? String == "live" }
        kill(running.process.processIdentifier, SIGTERM)
        let ended = try running.wait()
        #expect(ended.status == 0 && !ended.errors.contains("damaged"), "\(ended.errors)")
    }

    @Test func `recordings of two copies of a ledger that went their own ways are refused, by the import and by a live source`()
        throws
    {
        let (left, right, third) = (try Tool(), try Tool(), try Tool())
        try left.run("init")
        try left.run("simulate", "--nodes", "5", "--packets", "20", "--bad", "0")
        try left.run("backup", left.folder.file("backup").path)
        #expect(try right.run("restore", left.folder.file("backup").path, right.ledger).status == 0)
        let folder = third.folder.file("recordings")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        for (tool, seed, name) in [(left, "101", "one"), (right, "102", "two")] {
            try tool.run("simulate", "--seed", seed, "--nodes", "3", "--packets", "30", "--bad", "0")
            #expect(try tool.run("export", "--format", "ledger", folder.appendingPathComponent(name).path).status == 0)
        }
        try third.run("init")
        #expect(try third.run("import", folder.appendingPathComponent("one").path).status == 0)
        let refused = try third.run("import", folder.appendingPathComponent("two").path)
        #expect(
            refused.status == 65 && refused.errors.contains("two copies of a ledger differ in the same event"),
            "\(refused.errors)")
        let config = third.folder.file("mesh.yaml")
        try Data("sources:\n  - recording: \(folder.path)\n".utf8).write(to: config)
        let running = try third.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        let name = "recording:\(folder.path)"
        try waitUntil { (try statuses(third)[name]?["last_error"] as? String)?.contains("differ in the same event") == true }
        #expect(try statuses(third)[name]?["state"] as? String == "waiting to retry")
        kill(running.process.processIdentifier, SIGTERM)
        #expect(try running.wait().status == 0)
    }

    @Test func `views that have nothing to store lack nothing, and a line of the log names its source once`() throws {
        let tool = try Tool()
        let (config, log) = (tool.folder.file("mesh.yaml"), tool.folder.file("log"))
        try Data((0..<40).map { Line.text("line \($0)", from: 0x11) + "\n" }.joined().utf8).write(to: log)
        try Data("sources:\n  - file: \(log.path)\n  - tcp: 127.0.0.1:1\n".utf8).write(to: config)
        let running = try tool.start(["run", config.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try waitUntil { try statuses(tool)["file:log"]?["stored"] as? Int ?? 0 >= 40 }
        try waitUntil { try tool.run("stats").output.contains("up to date") }
        kill(running.process.processIdentifier, SIGTERM)
        let lines = try running.wait().errors.split(separator: "\n").filter { $0.contains("connecting to") }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.ranges(of: "tcp://127.0.0.1:1").count == 1 }, "\(lines)")
    }

    private final class Heard: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ new: [String]) { lines.withLock { $0 += new } }
        func contains(_ line: String) -> Bool { lines.withLock { $0.contains(line) } }
    }

    /// A new socket at the path.
    private static func bind(_ path: String, _ kind: __socket_type) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(kind.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < 108)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        return descriptor
    }

    /// The service manager's end of the socket.
    private final class Manager {
        let path: String
        private let descriptor: Int32
        private let heard = Heard()

        init(_ path: String) throws {
            self.path = path
            descriptor = try RunTests.bind(path, SOCK_DGRAM)
            listen()
        }

        deinit {
            shutdown(descriptor, Int32(SHUT_RDWR))
            close(descriptor)
        }

        /// Reads what comes, so that the sender never finds the queue full.
        private func listen() {
            Thread { [descriptor, heard] in
                var buffer = [UInt8](repeating: 0, count: 1_024)
                while case let count = unsafe recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                    let text = String(decoding: buffer.prefix(count), as: UTF8.self)
                    heard.add(text.split(separator: "\n").map(String.init))
                }
            }.start()
        }

        func wait(for text: String, line: Int = #line) throws { try waitUntil(line: line) { heard.contains(text) } }
    }
}
