import Foundation
import TestKit
import Testing

/// What is in a file that a command was told to write, and beside it.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct OutputFileTests {
    private let tool: Tool
    private let folder: URL
    private var file: URL { folder.appendingPathComponent("out") }

    init() throws {
        tool = try Tool(holding: [
            Line.node(0x11, long: "Harbour", short: "HB"), Line.text("hello", from: 0x11),
            Line.position(0x11, latitudeE7: 501_234_567, longitudeE7: -12_345_678),
        ])
        folder = tool.folder.file("outputs")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("earlier".utf8).write(to: file)
    }

    private func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) }
    private func text(_ name: String = "out") throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    @Test(arguments: ["table", "csv", "json", "jsonl", "arrow", "parquet"])
    func `a statement that fails leaves the earlier file as it was`(_ format: String) throws {
        let overflow = "SELECT abs(column1) AS a FROM (VALUES (1), (-9223372036854775807 - 1))"
        for statement in [overflow, "SELECT 1 AS a; SELEC", "SELECT nothing FROM nodes"] {
            for name in ["out", "new"] {
                let path = folder.appendingPathComponent(name).path
                let failed = try tool.run("sql", statement, "--format", format, "--output", path)
                #expect(failed.status != 0, "\(statement)")
                #expect(try text() == "earlier" && names() == ["out"], "\(statement)")
            }
        }
    }

    @Test(arguments: [
        ["export", "nodes"], ["simulate", "--packets", "10"], ["nodes", "--format", "csv"], ["sql", "SELECT 1"],
        ["service", "install", "--program", "/bin/true"],
    ])
    func `every command that writes a file takes -o and --output, and the former --to`(command: [String]) throws {
        let isFormer = ["export", "simulate", "service"].contains(command[0])
        let help = try tool.start(command.prefix(command[0] == "service" ? 2 : 1) + ["--help"]).wait().output
        #expect(help.contains("-o, --output <file>") && !help.contains("--to "), "\(help)")
        for option in [["-o", file.path], ["--output=\(file.path)"]]
            + (isFormer ? [["--to", file.path], ["--to=\(file.path)"]] : [])
        {
            try Data("earlier".utf8).write(to: file)
            let outcome = try tool.start(command + option).wait()
            #expect(try outcome.status == 0 && text() != "earlier", "\(option): \(outcome)")
        }
    }

    @Test func `a hyphen is standard output and standard input, whatever files have that name`() throws {
        let work = tool.folder.file("work")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: false)
        func run(_ line: String) throws -> Tool.Outcome {
            try tool.start(["-c", "cd '\(work.path)' && \"$0\" \(line)", Tool.program.path], by: ["/bin/sh"]).wait()
        }
        for line in [
            "nodes --format csv", "export nodes --format csv", "sql 'SELECT 1 AS a' --format csv",
            "simulate --packets 3 --seed 1 --as envelopes",
        ] {
            let shown = try run(line + " -o -")
            #expect(shown.status == 0 && shown.output.contains("\n"), "\(line): \(shown)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: work.path) == [], "\(line)")
        }
        #expect(try run("export all --format csv -o -").status == 64)
        try FileManager.default.createDirectory(at: work.appendingPathComponent("-"), withIntermediateDirectories: false)
        let piped = try run("simulate --packets 3 --seed 1 --as envelopes -o - | \"$0\" import -")
        #expect(piped.status == 0 && piped.output.contains("- (envelopes): "), "\(piped)")
    }

    @Test func `an answer of mixed types leaves the earlier Parquet file as it was`() throws {
        let mixed = "SELECT packets FROM nodes UNION ALL SELECT 'many'"
        #expect(try tool.run("sql", mixed, "--format", "parquet", "--output", file.path).status != 0)
        #expect(try text() == "earlier" && names() == ["out"])
    }

    @Test(arguments: ["csv", "jsonl", "parquet"])
    func `an export or a list with an unknown column leaves the earlier file as it was`(_ format: String) throws {
        #expect(try tool.run("export", "nodes", "--columns", "nothing", "--format", format, "--to", file.path).status == 64)
        #expect(try tool.run("export", "nodes", "--where", "nothing=1", "--format", format, "--to", file.path).status == 64)
        #expect(try tool.run("nodes", "--columns", "nothing", "--output", file.path).status == 64)
        #expect(try text() == "earlier" && names() == ["out"])
    }

    @Test(arguments: ["csv", "jsonl", "json", "arrow", "parquet", "geojson", "gpx", "kml"])
    func `an export replaces the earlier file, and keeps its mode`(_ format: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        #expect(try tool.run("export", "positions", "--format", format, "--to", file.path).status == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o640)
        #expect(try names() == ["out"])
        let printed = try tool.start(["export", "positions", "--format", format])
        printed.process.waitUntilExit()
        #expect(try Data(contentsOf: file) == Data(contentsOf: printed.output))
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `a signal removes the new file and leaves the earlier one`(_ signal: Int32, _ status: Int32) throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        let running = try tool.start(["sql", endless, "--format", "jsonl", "--output", file.path])
        try stop(running, signal)
        let outcome = try running.wait()
        #expect(outcome.status == status && running.process.terminationReason == .exit, "\(outcome)")
        #expect(try text() == "earlier" && names() == ["out"])
    }

    @Test func `a signal during an export of everything leaves all earlier files`() throws {
        #expect(try tool.run("simulate", "--packets", "20000", "--nodes", "50").status == 0)
        try Data("nodes".utf8).write(to: folder.appendingPathComponent("nodes.csv"))
        try Data("events".utf8).write(to: folder.appendingPathComponent("events.csv"))
        let running = try tool.start(["export", "all", "--format", "csv", "--to", folder.path])
        try stop(running, SIGTERM)
        #expect(try running.wait().status == 143)
        #expect(try names() == ["out", "nodes.csv", "events.csv"])
        #expect(try text("nodes.csv") == "nodes" && text("events.csv") == "events")

        #expect(try tool.run("export", "all", "--format", "csv", "--to", folder.path).status == 0)
        #expect(try text("nodes.csv") == tool.run("export", "nodes", "--format", "csv").output)
        #expect(try !names().contains { $0.hasPrefix(".") })
    }

    @Test func `a signal during a recording leaves the earlier file, and a complete one is for its owner alone`() throws {
        #expect(try tool.run("simulate", "--packets", "20000", "--nodes", "50").status == 0)
        // Choosing by node decodes each packet, which leaves time for the signal.
        let running = try tool.start(["export", "--format", "ledger", "--node", "!11", file.path])
        try stop(running, SIGTERM)
        #expect(try running.wait().status == 143)
        #expect(try text() == "earlier" && names() == ["out"])

        let new = folder.appendingPathComponent("new").path
        #expect(try tool.run("export", "--format", "ledger", new).status == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: new)[.posixPermissions] as? Int == 0o600)
        #expect(try names() == ["out", "new"])
    }

    @Test func `two commands may write the same file at once`() throws {
        let both = try (0..<2).map { _ in try tool.start(["export", "events", "--to", file.path]) }
        for one in both { #expect(try one.wait().status == 0) }
        #expect(try text() == tool.run("export", "events").output && names() == ["out"])
    }

    @Test func `a pipe and a link stay what they are`() throws {
        let (fifo, link) = (folder.appendingPathComponent("fifo").path, folder.appendingPathComponent("link").path)
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        #expect(unsafe symlink(file.path, link) == 0)
        let read = Pipe.ofOneChild()
        let reader = try Process.start(URL(fileURLWithPath: "/bin/cat"), [fifo], output: read)
        let wanted = try tool.run("export", "nodes").output
        #expect(try tool.run("export", "nodes", "--to", fifo).status == 0)
        #expect(String(decoding: read.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == wanted)
        reader.waitUntilExit()
        #expect(try tool.run("export", "nodes", "--to", link).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file.path && text() == wanted)
        #expect(try names() == ["out", "fifo", "link"])
    }

    @Test func `a command that fails leaves the file behind a link as it was`() throws {
        let link = tool.folder.file("link").path
        #expect(unsafe symlink(file.path, link) == 0)
        let failed = "SELECT abs(column1) AS a FROM (VALUES (1), (-9223372036854775807 - 1))"
        #expect(try tool.run("sql", failed, "--format", "csv", "--output", link).status != 0)
        #expect(try text() == "earlier" && names() == ["out"])
    }

    @Test func `what a killed command has left goes with the next one, and nothing else`() throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        let killed = try tool.start(["sql", endless, "--format", "jsonl", "--output", file.path])
        try stop(killed, SIGKILL)
        _ = try killed.wait()
        let left = try #require(try names().first { $0.hasPrefix(".meshledger-") })
        let running = try tool.start(["sql", endless, "--format", "jsonl", "--output", file.path])
        defer { kill(running.process.processIdentifier, SIGKILL) }
        try waitUntil { try names().count >= 3 }
        let kept = try #require(try names().first { $0.hasPrefix(".meshledger-") && $0 != left })
        try waitUntil { try !text(kept).isEmpty }  // it is locked before it is written
        // It looks at what is older than a minute.
        kill(running.process.processIdentifier, SIGSTOP)
        for name in [left, kept] {
            let path = folder.appendingPathComponent(name).path
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: path)
        }
        #expect(try tool.run("nodes", "--output", folder.appendingPathComponent("new").path).status == 0)
        #expect(try names() == ["out", "new", kept])
    }

    @Test func `packets that were decoded beside damaged lines are kept`() throws {
        let packet = "0d005c021915ffffffff22080801120461686f79354d000000"
        let lines = try tool.write([packet, "not a packet!", packet], to: "posted")
        #expect(try tool.run("decode", lines, "--format", "jsonl", "--output", file.path).status == 65)
        #expect(try text().split(separator: "\n").count == 2 && names() == ["out"])
        #expect(try tool.run("decode", "not a packet!", "--output", file.path).status != 0)
        #expect(try text().split(separator: "\n").count == 2 && names() == ["out"])
    }

    /// Sends the signal once the new file is there.
    private func stop(_ running: Tool.Running, _ signal: Int32) throws {
        try waitUntil(every: .milliseconds(1)) {
            try names().contains { $0.hasPrefix(".meshledger-") } || !running.process.isRunning
        }
        kill(running.process.processIdentifier, signal)
    }

    @Test func `everything is not written through a link or into a pipe in the folder`() throws {
        let victim = tool.folder.file("victim.csv")
        try Data("precious".utf8).write(to: victim)
        for make in [
            { unsafe symlink(victim.path, $0) }, { unsafe symlink(victim.path + ".new", $0) }, { unsafe mkfifo($0, 0o600) },
        ] as [(String) -> Int32] {
            let all = tool.folder.file("all-\(UUID())").path
            try FileManager.default.createDirectory(atPath: all, withIntermediateDirectories: false)
            #expect(make(all + "/positions.csv") == 0)
            let refused = try tool.run("export", "all", "--format", "csv", "-o", all)
            #expect(refused.status == 73 && refused.errors.contains("positions.csv is no plain file"), "\(refused)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: all) == ["positions.csv"])
        }
        #expect(try String(contentsOf: victim, encoding: .utf8) == "precious")
        #expect(!FileManager.default.fileExists(atPath: victim.path + ".new"))
    }

    @Test func `no ledger, lake or backup is made inside a ledger`() throws {
        let backup = tool.folder.file("backup").path
        #expect(try tool.run("backup", backup).status == 0)
        for (command, place) in [
            (["init"], "views/x"), (["restore", backup], "views/x"), (["lake", "write"], "views/x"), (["lake", "write"], ""),
            (["merge", tool.ledger, "--into"], "x"), (["salvage", tool.ledger], "log/x"), (["backup"], "views/x"),
        ] {
            let made = tool.ledger + "/" + place
            let refused = try tool.start(command + [made]).wait()
            #expect(refused.status == 64 && refused.errors.contains("ledger"), "\(command): \(refused)")
            #expect(place.isEmpty || !FileManager.default.fileExists(atPath: made), "\(command)")
        }
        #expect(try tool.run("verify").status == 0)
    }
}
