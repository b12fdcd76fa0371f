import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct RefusalTests {
    /// One line, a documented status.
    private func expectRefusal(_ outcome: Tool.Outcome, _ status: Int32, _ text: String) {
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("meshledger: "))
        #expect(outcome.errors.filter(\.isNewline).count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
    }

    @Test(arguments: [
        (["nodes", "--bogus"], "meshledger nodes list --help"), (["nodes", "--since", "soon"], "soon"),
        (["nodes", "--since", "2026-02-01", "--until", "2026-01-31"], "--since is later than --until"),
        (["nodes", "--limit", "-1"], "limit"), (["import"], "files"), (["bogus"], "bogus"),
        (["diff", "a", "b", "--limit", "2"], "Unknown option '--limit'"),
        (["diff", "a", "b", "c"], "--as-of; see `meshledger diff --help`"),
        (["export", "nodes", "--format", "gpx"], "gpx"), (["packet", "show", "x"], "x"),
        (["telemetry", "--kind", "moon"], "one of the following: 'device', 'environment'"),
        (["sensors", "--kind", "moon"], "or 'rangeTest'; see `"), (["keys", "add", "Name", "--psk", ""], "the key is empty"),
        (["keys", "add", "Name"], "--psk"), (["keys", "add", "Name", "--psk", "no base64!"], "base64"),
        (["ingest", "mqtt", "http://x"], "mqtt://"), (["ingest", "mqtt", "mqtt://x", "--qos", "2"], "0 or 1"),
    ])
    func `a wrong command line is refused with 64`(arguments: [String], text: String) throws {
        let tool = try Tool()
        try tool.run("init")
        expectRefusal(try tool.start(arguments).wait(), 64, text)
    }

    @Test func `a ledger, file or row that does not exist is refused with 66`() throws {
        let tool = try Tool()
        expectRefusal(try tool.run("nodes"), 66, "meshledger init")
        try tool.run("init")
        expectRefusal(try tool.run("import", "/nonexistent/file"), 66, "/nonexistent/file")
        for command in [["packet", "show", "1"], ["prove", "1"]] {
            expectRefusal(try tool.start(command).wait(), 66, "there is no event 1; the ledger is empty")
        }
        expectRefusal(try tool.run("positions", "--node", "Nobody"), 66, "Nobody")
        expectRefusal(try tool.run("rebuild", "nope"), 66, "nope")
        expectRefusal(try tool.run("quarantine", "--view", "nope"), 66, "nope")
        expectRefusal(try tool.run("keys", "remove", "Nope"), 66, "Nope")
    }

    @Test(arguments: ["table", "csv", "json", "jsonl"]) func `before the error that nothing was found, no output begins`(
        format: String
    ) throws {
        let tool = try Tool(holding: [Line.text("hello", from: 1)])
        for command in [
            ["packets", "receptions", "1"], ["packets", "--node", "!deadbeef"], ["messages", "--where", "time>soon"],
            ["telemetry", "--count-by", "colour"], ["positions", "track", "--node", "!deadbeef"],
        ] {
            let refused = try tool.start(command + ["--format", format]).wait()
            #expect([64, 66].contains(refused.status) && refused.output.isEmpty, "\(command): \(refused)")
        }
        let none = try tool.run("positions", "--format", format).output
        #expect(
            ["table": none.isEmpty, "csv": none.hasPrefix("node,"), "json": none == "[]\n", "jsonl": none.isEmpty][format] == true
        )
    }

    @Test func `a file of another format is refused with 65 and leaves nothing`() throws {
        let tool = try Tool()
        try tool.run("init")
        expectRefusal(try tool.run("import", "/etc/passwd"), 65, "/etc/passwd")
        #expect(try tool.run("stats", "--format", "json").objects.first?["events"] as? Int == 0)
    }

    @Test func `of several files none is imported where one is missing, and all but one that is refused`() throws {
        let tool = try Tool()
        try tool.run("init")
        let files = (1...2).map { "\(tool.ledger)-\($0).jsonl" }
        for (file, text) in zip(files, ["one", "two"]) {
            try Line.text(text, from: 7).write(toFile: file, atomically: false, encoding: .utf8)
        }
        expectRefusal(try tool.run("import", files[0], "/nonexistent/file", files[1]), 66, "/nonexistent/file")
        #expect(try tool.run("events").lines.isEmpty)
        let refused = try tool.run("import", "--complete", files[0], "/etc/passwd", files[1])
        #expect(refused.status == 65)
        #expect(refused.errors.hasSuffix("meshledger: not imported: /etc/passwd\n"), "\(refused.errors)")
        #expect(try tool.run("events", "--format", "jsonl").lines.count == 2)
    }

    @Test func `a ledger is never made over something else`() throws {
        let tool = try Tool()
        #expect(try tool.run("init").status == 0)
        expectRefusal(try tool.run("init"), 73, tool.ledger)
    }

    @Test func `what cannot be made is refused with 73, and a backup or ledger that is not there with 66`() throws {
        let tool = try Tool(holding: [Line.node(0x1234, long: "Rover", short: "RV")])
        expectRefusal(try tool.run("restore", tool.folder.path, tool.ledger + "-new"), 66, "not a backup")
        expectRefusal(try tool.run("merge", tool.folder.path, "--into", tool.ledger + "-new"), 66, "not a ledger")
        expectRefusal(try tool.run("lake", "write", "/proc/tty/ldisc"), 73, "cannot be")
        try tool.run("backup", tool.folder.file("backup").path)
        let file = tool.folder.file("plain")
        try Data().write(to: file)
        expectRefusal(try tool.run("export", "all", "-o", file.path), 73, "cannot be made: \(file.path) is a file")
        // Nobody can make anything in these, root included.
        for place in ["/proc/new", "/proc/new/deep", "/dev/null/new"] {
            for command in [["init", "--ledger", place], ["backup", place], ["merge", tool.ledger, "--into", place]] {
                expectRefusal(try tool.start(command).wait(), 73, "cannot be")
            }
            expectRefusal(try tool.run("salvage", tool.ledger, place), 73, "cannot be")
            expectRefusal(try tool.run("restore", tool.folder.file("backup").path, place), 73, "cannot be")
            for command in [["lake", "write", place], ["nodes", "--output", place], ["export", "all", "--output", place]] {
                expectRefusal(try tool.start(command).wait(), 73, "cannot be")
            }
            expectRefusal(try tool.run("restore", place, tool.ledger + "-new"), 66, "there is no backup here")
        }
    }

    @Test func `an unknown broker is refused with 69`() throws {
        let tool = try Tool()
        try tool.run("init")
        let outcome = try tool.run("ingest", "mqtt", "mqtt://no-such-host.invalid")
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("no-such-host.invalid"))
    }

    @Test func `a ledger that another command writes to can be read, and a second listener stores through the first`() throws {
        let tool = try Tool(holding: [Line.node(0x1234, long: "Rover", short: "RV")])
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        try writer.wait(for: "trying again")
        #expect(try tool.run("nodes", "--format", "jsonl").objects.first?["long_name"] as? String == "Rover")
        let second = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        defer { kill(second.process.processIdentifier, SIGKILL) }
        try second.wait(for: "trying again")
        // A radio is shared by the process that has the ledger's log.
        let third = try tool.run("ingest", "tcp", "127.0.0.1:1", "--share", "2")
        expectRefusal(third, 75, "process \(writer.process.processIdentifier)")
        second.process.interrupt()
        #expect(try second.wait().status == 0)
        writer.process.interrupt()
        #expect(try writer.wait().status == 0)
        #expect(try tool.run("rebuild").status == 0)
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser may do everything"))
    func `a ledger without permission is refused with 77`() throws {
        let tool = try Tool()
        try tool.run("init")
        _ = unsafe chmod(tool.ledger, 0)
        defer { _ = unsafe chmod(tool.ledger, 0o700) }
        expectRefusal(try tool.run("nodes"), 77, tool.ledger)
    }

    @Test func `a full disk under the output is reported`() throws {
        let tool = try Tool(holding: [Line.node(0x1234, long: "Rover", short: "RV")])
        let outcome = try tool.shell("exec \"$0\" events > /dev/full")
        #expect(outcome.status == 74 && outcome.errors.contains("standard output"), "\(outcome)")
    }
}
