import Foundation
import TestKit
import Testing

/// `--as-of` on the commands that read.
struct HistoricalCommands {
    private static let commands = [
        ["nodes"], ["positions"], ["telemetry"], ["messages"], ["waypoints", "--all"], ["links"], ["links", "traceroutes"],
        ["channels"], ["gateways"], ["gateways", "mapreports"], ["telemetry", "sensors"], ["nodes", "history"],
        ["nodes", "hardware"], ["nodes", "radios"], ["view", "quarantine"], ["view", "nodes"], ["packets"], ["events"],
        ["sql", "SELECT * FROM nodes"],
    ]

    private func output(_ tool: Tool, _ command: [String], _ asOf: String? = nil) throws -> Tool.Outcome {
        let arguments = command + ["--format", "jsonl"] + (asOf.map { ["--as-of", $0] } ?? [])
        return try tool.start(arguments).wait()
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `an interrupted --as-of leaves no row in memory, and the next one removes what it left`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "3", "--nodes", "40", "--packets", "8000")
        let row = try #require(try tool.run("nodes", "--limit", "1", "--format", "jsonl").objects.first)
        let name = Data(try #require(row["long_name"] as? String).utf8)
        var folders: [String] = []
        for turn in 1...12 {
            let running = try tool.start(["positions", "--as-of", "\(7_000 + turn)", "--format", "jsonl"])
            usleep(UInt32(turn) * 50_000)  // each is interrupted at another moment
            kill(running.process.processIdentifier, turn.isMultiple(of: 2) ? SIGKILL : SIGTERM)
            let process = running.process.processIdentifier
            _ = try running.wait()
            for folder in try FileManager.default.contentsOfDirectory(atPath: "/dev/shm") where folder.hasPrefix("meshledger-") {
                let path = "/dev/shm/" + folder
                guard let lock = try? String(contentsOfFile: path + "/LOCK", encoding: .utf8), lock == "\(process)\n" else {
                    continue
                }
                folders.append(path)
                for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
                    #expect(FileManager.default.contents(atPath: path + "/" + file)?.range(of: name) == nil, "\(file)")
                }
            }
        }
        for folder in folders {
            try FileManager.default.setAttributes(
                [.modificationDate: Date.now.addingTimeInterval(-60)], ofItemAtPath: folder + "/LOCK")
        }
        #expect(try tool.run("nodes", "--as-of", "100").status == 0)
        for folder in folders { #expect(!FileManager.default.fileExists(atPath: folder)) }
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `18.6: --as-of leaves nothing in memory, not even an empty folder, when it is killed while it builds`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "3", "--nodes", "40", "--packets", "8000")
        for command in ["positions", "nodes", "messages"] {
            let running = try tool.start([command, "--as-of", "7990"])
            let process = running.process.processIdentifier
            var folder: String?
            try waitUntil {
                let maps = try? String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)  // it has ended
                folder = maps?.firstMatch(of: /\/dev\/shm\/meshledger-[-0-9A-F]+/).map { String($0.output) }
                return maps == nil || folder != nil
            }
            // It has a name only while it is made.
            let path = try #require(folder, "the store is in memory")
            try waitUntil { !FileManager.default.fileExists(atPath: path) }
            #expect(running.process.isRunning, "\(command): the folder is gone long before the command has ended")
            kill(process, SIGKILL)
            _ = try running.wait()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `18.6: an empty folder in memory, which a process left that was killed before it locked it, is removed`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1), Line.text("two", from: 2)])
        let left = "/dev/shm/meshledger-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: left) }
        #expect(try tool.run("erase", "--sequence", "2", "--yes").status == 0)
        #expect(!FileManager.default.fileExists(atPath: left))
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: left)
        #expect(try tool.run("nodes", "--as-of", "1").status == 0)
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `18.6: an erasure removes what a killed --as-of has just left in memory`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1), Line.text("two", from: 2)])
        let ended = try FinishedProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", "echo $$"])
        let number = ended.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let left = "/dev/shm/meshledger-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: left + "/nodes", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: left) }
        try Data("erased soon".utf8).write(to: URL(fileURLWithPath: left + "/nodes/data.mdb"))
        try Data("\(number)\n".utf8).write(to: URL(fileURLWithPath: left + "/LOCK"))
        #expect(try tool.run("nodes").status == 0 && FileManager.default.fileExists(atPath: left), "it may not be locked yet")
        #expect(try tool.run("erase", "--sequence", "2", "--yes").status == 0)
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `18.5: what a link in the place of a view's earlier states leads to is neither written nor removed`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "3", "--nodes", "12", "--packets", "2000")
        let foreign = tool.folder.file("foreign").path
        try FileManager.default.createDirectory(atPath: foreign + "/photos", withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: foreign + "/thesis.txt"))
        let past = tool.ledger + "/views/nodes/past"
        try? FileManager.default.removeItem(atPath: past)
        try FileManager.default.createSymbolicLink(atPath: past, withDestinationPath: foreign)
        let outcome = try tool.run("nodes", "--as-of", "1000", "--format", "jsonl")
        #expect(outcome.status == 0 && outcome.lines.count > 5, "\(outcome)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: foreign).sorted() == ["photos", "thesis.txt"])
        // Nor what a folder there has that is no copy.
        try FileManager.default.removeItem(atPath: past)
        try FileManager.default.moveItem(atPath: foreign, toPath: past)
        try FileManager.default.createSymbolicLink(atPath: past + "/new-link", withDestinationPath: "/etc/hostname")
        #expect(try tool.run("nodes", "--as-of", "1000", "--format", "jsonl").output == outcome.output)
        let left = Set(try FileManager.default.contentsOfDirectory(atPath: past))
        #expect(left.isSuperset(of: ["photos", "thesis.txt", "new-link"]), "\(left)")
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `--as-of says which point in time it used, and how to write a year that was taken for a sequence`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "2050", "--bad", "0")
        for command in ["nodes", "diff"] {
            let number = try tool.run(command, "--as-of", "2025").errors
            #expect(number.contains("as of event 2025, which arrived at ") && number.contains("write 2025-01-01\n"), "\(number)")
            #expect(try tool.run(command, "--as-of", "1999").errors.contains("write") == false)
            #expect(try tool.run(command, "--as-of", "2025-01-01").errors.contains("as of 2025-01-01T00:00:00Z: nothing"))
            let later = try tool.run(command, "--as-of", "2099")
            #expect(later.status != 0 && later.errors.contains("for the year 2099, write 2099-01-01\n"), "\(later)")
        }
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `the line that says as of when is in the zone of the table`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1), Line.text("two", from: 2)])
        let york = ["TZ": "America/New_York"]
        let shown = try tool.shown(["nodes", "--as-of", "2026-01-01"], columns: 120, environment: york)
        #expect(shown.output.contains("as of 2026-01-01T00:00:00-05:00: "), "\(shown)")
        let event = try tool.shown(["nodes", "--as-of", "2"], columns: 120, environment: york)
        #expect(event.lines.contains { $0.hasPrefix("as of event 2, which arrived at 20") && !$0.hasSuffix("Z") }, "\(event)")
        #expect(
            try tool.run("nodes", "--as-of", "2026-01-01", environment: york).errors.hasPrefix("as of 2026-01-01T00:00:00Z: "))
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `D22: --as-of answers as of an event, on every command that reads`() async throws {
        let tool = try Tool()
        try tool.run("init")
        let made = try tool.run("simulate", "--seed", "3", "--nodes", "20", "--packets", "400")
        #expect(made.status == 0, "\(made.errors)")
        let head = try #require(try tool.run("events", "--limit", "1", "--format", "jsonl").objects.first?["sequence"] as? Int)
        for command in Self.commands {
            let (now, then) = (try output(tool, command), try output(tool, command, "\(head)"))
            #expect(then.status == 0, "\(command): \(then.errors)")
            #expect(now.output == then.output, "\(command)")
            let begin = try output(tool, command, "0")
            #expect(begin.status == 0 && begin.output.isEmpty, "\(command): \(begin.output)\(begin.errors)")
        }
        #expect(try output(tool, ["events", "--limit", "1"], "100").objects.first?["sequence"] as? Int == 100)
        let firsts = try output(tool, ["packets"], "100").objects.map { $0["first_sequence"] as? Int ?? 101 }
        #expect(firsts.allSatisfy { $0 <= 100 } && !firsts.isEmpty)
        let nodes = try output(tool, ["nodes"], "100").objects
        let heard = nodes.compactMap { $0["receptions"] as? Int }.reduce(0, +)
        #expect((1...100).contains(heard))
        let late = try output(tool, ["nodes"], "1000000")
        #expect(late.status == 66 && late.errors.contains("the last one is \(head)"))
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `D22: --as-of a time means when packets were heard, in whatever order their recordings were imported`() throws {
        let recordings = try Tool()
        for (name, start) in [("early", "2025-03-01T00:00:00Z"), ("late", "2025-06-01T00:00:00Z")] {
            let made = try recordings.start([
                "simulate", "--seed", "4", "--nodes", "20", "--packets", "300", "--start", start, "--to",
                recordings.folder.path + "/" + name,
                "--as", "envelopes",
            ]).wait()
            #expect(made.status == 0, "\(made.errors)")
        }
        let (whole, alone) = (try Tool(), try Tool())
        for (tool, names) in [(whole, ["late", "early"]), (alone, ["early"])] {
            try tool.run("init")
            for name in names { #expect(try tool.run("import", recordings.folder.path + "/" + name).status == 0) }
        }
        // Of some other packets no time of reception is known: these count from their import on.
        for command in [["messages", "--columns", "time,from,text"], ["positions", "--columns", "time,node,latitude"]] {
            let then = try output(whole, command, "2025-05")
            let wanted = try output(alone, command).output
            #expect(then.status == 0 && !wanted.isEmpty && then.output == wanted)
            #expect(then.errors.contains("as of 2025-05-01T00:00:00Z: of events 1 to"), "\(then.errors)")
            #expect(try output(whole, command, "2025-02").output.isEmpty)
            #expect(try output(whole, command, "2025-08").output == (try output(whole, command).output))
        }
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `who heard a packet, and the events of a node, a gateway and a port`() async throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "6", "--nodes", "30", "--packets", "900")
        let all = try tool.run("export", "packet_events").objects
        let packet = try #require(try tool.run("packets", "--format", "jsonl").objects.max { $0.heard < $1.heard })
        let receptions = try tool.run(
            "packet", "receptions", "\(packet["id"] ?? 0)", "--from", packet["from"] as? String ?? "", "--format", "jsonl")
        #expect(receptions.objects.compactMap { $0["sequence"] as? Int } == packet["sequences"] as? [Int])
        #expect(packet.heard > 1 && receptions.objects.compactMap { $0["gateway"] as? String }.count == packet.heard)
        func sequences(_ arguments: [String]) throws -> [Int] {
            try tool.start(["events", "--by", "arrival", "--oldest-first", "--format", "jsonl"] + arguments).wait().objects
                .compactMap {
                    $0["sequence"] as? Int
                }
        }
        func indexed(_ isWanted: ([String: Any]) -> Bool) -> [Int] { all.filter(isWanted).compactMap { $0["sequence"] as? Int } }
        let gateway = try #require(packet["gateways"] as? [String])[0]
        #expect(try sequences(["--gateway", gateway]) == indexed { $0["gateway"] as? String == gateway })
        #expect(try sequences(["--port", "POSITION_APP"]) == indexed { $0["port"] as? String == "POSITION_APP" })
        #expect(try sequences(["--node", gateway, "--mentions"]) == indexed { $0.names(gateway) })
        #expect(try sequences(["--packet", "\(packet["id"] ?? 0)"]) == packet["sequences"] as? [Int])
        #expect(try tool.run("events", "--port", "NO_SUCH_APP").status == 66)
    }

    @Test(.enabled(if: Tool.isBuilt, "needs the built program"))
    func `the receptions of a forged packet, and of another node's with its id, are distinguished from the real one's`() throws {
        let tool = try Tool(holding: [Line.text("real", from: 7), Line.text("forged", from: 7), Line.text("other", from: 1007)])
        let all = try tool.run("packet", "receptions", "7004", "--format", "jsonl").objects
        #expect(all.map { $0["packet"] as? Int } == [1, 2, 3])
        #expect(all.map { $0["from"] as? String } == ["!00000007", "!00000007", "!000003ef"])
        #expect(all.map { $0["has_conflict"] as? Bool } == [true, true, false])
        #expect(try tool.run("packet", "receptions", "7004", "--from", "!000003ef", "--format", "jsonl").objects.count == 1)
    }

    @Test(.enabled(if: Tool.isBuilt && getuid() == 0, "needs the built program, and root"))
    func `--as-of without room in memory says that the disk is full`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "40", "--packets", "3000")
        let small = [
            "unshare", "-m", "/bin/sh", "-c", "mount -t tmpfs -o size=200k none /dev/shm && exec \"$0\" \"$@\"",
            Tool.program.path,
        ]
        let outcome = try tool.start(["nodes", "--as-of", "3000"], by: ["/usr/bin/env"] + small).wait()
        #expect(outcome.status == 74 && outcome.errors.contains("disk or quota is full"), "\(outcome)")
    }
}

extension [String: Any] {
    fileprivate var heard: Int { self["receptions"] as? Int ?? 0 }

    fileprivate func names(_ node: String) -> Bool {
        ["from", "to", "gateway"].contains { self[$0] as? String == node }
            || (self["named"] as? [String])?.contains(node) ?? false
    }
}
