import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshCommands

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct NameTests {
    private func filled() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "800")
        return tool
    }

    @Test func `a channel, port or view that does not exist is refused with 66, with what there is and what is spelt alike`()
        throws
    {
        let tool = try filled()
        let wrong: [(arguments: [String], parts: [String])] = [
            (["messages", "--channel", "LongFats"], ["did you mean LongFast? There are ", "MediumFast"]),
            (["packets", "--channel", "Nowhere"], ["there is no channel Nowhere; there are ", "LongFast"]),
            (["events", "--channel", "LongFst"], ["did you mean LongFast?"]),
            (["search", "water", "--channel", "LongFst"], ["did you mean LongFast?"]),
            (["export", "messages", "--channel", "LongFst"], ["did you mean LongFast?"]),
            (["messages", "read", "--channel", "LongFst"], ["did you mean LongFast?"]),
            (["packets", "--port", "POSTION"], ["did you mean POSITION_APP? A port is a number", "TEXT_MESSAGE_APP"]),
            (["events", "--port", "telemetri_app"], ["did you mean TELEMETRY_APP?"]),
            (["packets", "--port", "text"], ["did you mean TEXT_MESSAGE_APP?"]),
            (["packets", "--port", "600"], ["there is no port 600", "up to 511"]),
            (["events", "--source", "simulation:sed 4"], ["did you mean simulation:seed 4? There are simulation:seed 4"]),
            (["nodes", "radios", "--source", "roof"], ["there is no source roof; there are simulation:seed 4"]),
            (["view", "postions"], ["did you mean positions?", "messages"]),
            (["view", "digest", "node"], ["did you mean nodes?"]),
            (["view", "rebuild", "nodez"], ["did you mean nodes?"]),
            (["view", "quarantine", "--view", "nodez"], ["did you mean nodes?"]),
            (["row", "archive", "postions", "--all"], ["did you mean positions?"]),
        ]
        for (arguments, parts) in wrong {
            let refused = try tool.start(arguments).wait()
            #expect(refused.status == 66 && refused.output.isEmpty, "\(arguments): \(refused)")
            #expect(refused.errors.filter(\.isNewline).count == 1, "\(arguments): \(refused.errors)")
            for part in parts { #expect(refused.errors.contains(part), "\(arguments): \(refused.errors)") }
        }
    }

    @Test func `a value that no row of a column can have is refused, also where no row has a value there`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 1)])
        let refusals: [(command: String, status: Int32, part: String)] = [
            ("events --where form=nix", 66, "there is no form nix; there are gap, note"),
            ("events --where reception=nix", 64, "'nix' is not a time"),
            ("links --where snr=abc", 64, "'abc' cannot be compared with snr: it takes a number"),
            ("view links --where snr>loud", 64, "'loud' cannot be compared with snr: it takes a number"),
            ("packets --where rssi=near", 64, "'near' cannot be compared with rssi: it takes a number"),
            ("export positions --where latitude=north", 64, "'north' cannot be compared with latitude: it takes a number"),
            ("nodes --where is_licensed=maybe", 64, "it takes true or false"),
        ]
        for (command, status, part) in refusals {
            let refused = try tool.start(command.split(separator: " ").map(String.init)).wait()
            #expect(refused.status == status && refused.errors.contains(part), "\(command): \(refused)")
        }
        #expect(try tool.run("events", "--where", "form=mqttjson", "--format", "jsonl").objects.count == 1)
        #expect(try tool.run("events", "--where", "form=200", "--format", "jsonl").objects.isEmpty)
        #expect(try tool.run("events", "--where", "reception=LIVE", "--format", "jsonl").status == 0)
    }

    @Test func `names of channels, ports, views, nodes and enumerations are the same in any case`() throws {
        let tool = try filled()
        let node = try #require(try tool.run("nodes", "--format", "jsonl").objects.first?["node"] as? String)
        #expect(try tool.run("nodes", "alias", node, "Harbour Master").status == 0)
        #expect(try tool.run("telemetry", "sensors", "--kind", "Detection").status == 0)
        for (one, other) in [
            ("messages --channel LongFast", "messages --channel longfast"),
            ("packets --channel LongFast", "packets --channel LONGFAST"),
            ("packets --port POSITION_APP", "packets --port position"), ("view positions", "view Positions"),
            ("events --channel LongFast --port TEXT_MESSAGE_APP", "events --channel longFast --port text_message_app"),
            ("nodes --where role=ROUTER", "nodes --where role=router"),
            ("nodes --where role!=ROUTER", "nodes --where role!=Router"), ("export positions", "export POSITIONS"),
            ("export packets", "export Packets --by HEARD"), ("export packets", "export packets --format JSONL"),
        ] {
            func rows(_ command: String) throws -> [Substring] {
                let format = command.hasPrefix("export") ? [] : ["--format", "jsonl"]
                let run = try tool.start(command.split(separator: " ").map(String.init) + format).wait()
                #expect(run.status == 0, "\(command): \(run.errors)")
                return run.lines
            }
            let found = try rows(one)
            #expect(!found.isEmpty, "\(one)")
            #expect(try rows(other) == found, "\(other)")
        }
        let fed = try tool.run("follow", "--consumer", "c", "--view", "Positions", "--no-follow")
        #expect(fed.status == 0 && fed.output.contains("\"op\":\"put\""), "\(fed.errors)")
        let aliased = try tool.run("packets", "--node", "harbour master", "--format", "jsonl")
        #expect(
            try aliased.status == 0 && aliased.output == tool.run("packets", "--node", node, "--format", "jsonl").output)
        let misspelt = try tool.run("packets", "--node", "harbor master")
        #expect(misspelt.status == 66 && misspelt.errors.contains("did you mean Harbour Master?"), "\(misspelt)")
    }

    @Test func `the packets of a channel without a key are asked for by the hash that lists show`() throws {
        let tool = try filled()
        let hash = try #require(
            try tool.run("channels", "--format", "jsonl").objects.first { $0["readable"] as? Bool == false }?["hash"] as? Int)
        let packets = try tool.run("packets", "--channel", "hash \(hash)", "--format", "jsonl").objects
        #expect(!packets.isEmpty && packets.allSatisfy { ($0["channel"] as? String)?.hasPrefix("hash \(hash)") ?? false })
        let refused = try tool.run("packets", "--channel", "hash 999")
        #expect(refused.status == 66 && refused.errors.contains("hash \(hash)") && !refused.errors.contains("unreadable"))
    }

    @Test func `a channel with a key and no traffic yet is an empty answer`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("keys", "add", "Attic", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        #expect(try tool.run("messages", "--channel", "attic").status == 0)
        #expect(try tool.run("messages", "--channel", "LongFast").status == 0)
        #expect(try tool.run("messages", "--channel", "Cellar").status == 66)
    }

    @Test(arguments: [
        ("LongFats", "LongFast"), ("longfast", "LongFast"), ("Long", "LongFast"), ("Harbor", "Harbour"), ("x", nil),
        ("Submarine", nil), ("hash 29", nil),
        ("", nil),
    ])
    func `only what is spelt alike is suggested`(text: String, expected: String?) {
        let found = KnownName.suggestion(for: text, among: ["MediumFast", "LongFast", "Harbour", "hash 28", ""])
        #expect(found == (expected.map { "; did you mean \($0)?" } ?? ""))
    }
}

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct FirstContact {
    @Test func `init makes a ledger at a path, and prints how other commands find it`() throws {
        let tool = try Tool()
        let path = tool.folder.file("a b/o'clock.ledger").path
        let made = try tool.run("init", path)
        #expect(made.status == 0 && made.lines.first == "made the ledger \(path)", "\(made)")
        let export = try #require(made.lines.last?.split(separator: "export ").last)
        #expect(try tool.shell("export \(export); printf %s \"$MESHLEDGER\"").output == path)
        #expect(try tool.run("stats", "--ledger", path).status == 0)
        #expect(try tool.run("init", path).status == 73)
        #expect(try tool.run("init", path, "--ledger", path).status == 64)
        let relative = try FinishedProcess(
            Tool.program, ["init", "new/mesh.ledger"], adding: ProcessInfo.commandEnvironment(ledger: tool.ledger, home: path),
            in: tool.folder.url)
        #expect(
            relative.text.contains("export MESHLEDGER=\(tool.folder.url.standardizedFileURL.path)/new/mesh.ledger"), "\(relative)"
        )
        #expect(try tool.run("init").lines.count == 1, "the usual place needs no advice")
    }

    @Test func `every command that needs a ledger says where it looked and what to run, and ends with 66`() throws {
        let tool = try Tool()
        for command in [
            "nodes", "positions", "stats", "verify", "storage compact", "storage limit", "storage seal", "keys list",
            "keys add X --psk AQ==",
            "export nodes", "events", "packets", "packets show 1", "view", "view rebuild", "view schema", "view schema plan",
            "checkpoint",
            "prove 1", "search x", "import /etc/hostname", "ingest mqtt mqtt://127.0.0.1:1", "simulate --packets 1", "revert 1",
            "follow --consumer x", "backup \(tool.folder.path)/b",
        ] {
            let refused = try tool.start(command.split(separator: " ").map(String.init)).wait()
            #expect(refused.status == 66, "\(command): \(refused)")
            #expect(
                refused.errors.contains("there is no ledger at \(tool.ledger); make one with `meshledger init`"),
                "\(command): \(refused)")
            let named = try tool.start(command.split(separator: " ").map(String.init) + ["--ledger", "/tmp/no such ledger"])
                .wait()
            #expect(named.errors.contains("`meshledger init '/tmp/no such ledger'`"), "\(command): \(named)")
        }
    }

    @Test func `simulated traffic ends now, so that the last hour of it is found`() throws {
        let tool = try Tool()
        try tool.run("init")
        let before = Int(Date().timeIntervalSince1970)
        let capture = tool.folder.file("capture").path
        // Beside the tests' own start.
        let made = try Process.run(
            Tool.program, arguments: ["simulate", "--seed", "1", "--nodes", "10", "--packets", "300", "--to", capture])
        made.waitUntilExit()
        #expect(made.terminationStatus == 0)
        try tool.run("import", capture)
        let recent = try tool.run("nodes", "--since", "1h", "--format", "jsonl").objects
        #expect(recent.count > 3)
        let fixed = tool.folder.file("fixed").path
        for start in ["2026-05-28T20:26:40Z", "1780000000"] {
            try tool.run("simulate", "--seed", "1", "--nodes", "10", "--packets", "300", "--to", fixed + start, "--start", start)
        }
        let files = try ["2026-05-28T20:26:40Z", "1780000000"].map { try Data(contentsOf: URL(fileURLWithPath: fixed + $0)) }
        #expect(files[0] == files[1] && !files[0].isEmpty)
        let last = try tool.run(
            "positions", "--limit", "1", "--where", "time<now", "--sort", "time", "--reverse", "--format", "jsonl"
        ).objects
        let time = try #require((last.first?["time"] as? String).flatMap { TimeArgument($0) })
        #expect(Int(time.time.seconds) > before - 3_600)
    }

    @Test func `names and ids may end as a line of CSV does`() throws {
        let tool = try Tool(holding: [Line.node(0x11, long: "Rover", short: "RV"), Line.text("hi", from: 0x11)])
        for node in ["!00000011\r", "Rover\r", " Rover ", "17\n"] {
            #expect(try tool.run("messages", "--node", node, "--format", "jsonl").objects.count == 1, "\(node)")
        }
        let id = try tool.run("messages", "--format", "csv", "--columns", "id").lines[1] + "\r"
        #expect(try tool.run("packets", "receptions", String(id), "--format", "jsonl").objects.count == 1)
        #expect(try tool.run("packets", "--port", "TEXT_MESSAGE_APP\r", "--format", "jsonl").objects.count == 1)
    }

    @Test func `an answer about a node of which nothing was heard says so, whatever is asked`() throws {
        let tool = try Tool(holding: [Line.node(0x3333_3333, long: "Rover", short: "RV"), Line.text("hi", from: 0x3333_3333)])
        for arguments in [
            "packets --node", "events --gateway", "messages --node", "positions --node", "positions --latest --node",
            "telemetry --node", "links --hearer", "links neighbors", "links traceroutes --through", "gateways --by",
            "nodes --node", "nodes history --node", "nodes timeline", "positions track --node", "waypoints --node",
            "telemetry sensors --node", "packets --count-by port --node", "packets --bucket 1h --chart --node",
        ] {
            let asked = arguments.split(separator: " ").map(String.init)
            for format in [["--format", "json"], []] where format.isEmpty || !asked.contains("--chart") {
                let refused = try tool.start(asked + ["!deadbeef"] + format).wait()
                #expect(refused.status == 66 && refused.output.isEmpty, "\(arguments): \(refused)")
                #expect(refused.errors.contains("the node !deadbeef was never heard"), "\(arguments): \(refused)")
            }
            let known = try tool.start(asked + ["Rover"]).wait()
            #expect(known.status == 0, "\(arguments): \(known)")
        }
        #expect(try tool.run("packets", "--gateway", "!0000abcd", "--port", "ADMIN_APP").status == 0, "a gateway is mentioned")
        #expect(try tool.run("messages", "--node", "33333333", "--format", "jsonl").objects.count == 1, "an id without its sign")
    }

    @Test func `of names that differ only in case, the one that is spelt so is meant`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Rover", short: "R1"), Line.node(0x22, long: "rover", short: "R2"),
            Line.text("hi", from: 0x11), Line.text("ho", from: 0x22),
        ])
        for (name, text) in [("Rover", "hi"), ("rover", "ho")] {
            let found = try tool.run("messages", "--node", name, "--format", "jsonl").objects
            #expect(found.map { $0["text"] as? String } == [text], "\(found)")
        }
        #expect(try tool.run("messages", "--node", "ROVER").status == 64)
    }

    @Test func `a column or command that is misspelt gets the one that is meant`() throws {
        let tool = try Tool(holding: [Line.text("hi", from: 0x11)])
        for (arguments, meant) in [
            (["nodez"], "nodes"), (["packet", "shw", "3"], "show"), (["nodes", "hardwear"], "hardware"),
            (["nodes", "--where", "batery=3"], "battery"),
            (["nodes", "--columns", "nam"], "name"), (["telemetry", "--where", "battery < 20"], "battery_level"),
            (["packets", "--count-by", "hours"], "hour"), (["nodes", "--count-by", "Days,role"], "day"),
            (["telemetry", "--kind", "devise"], "device"), (["telemetry", "sensors", "--kind", "paxcount"], "paxcounter"),
            (["nodes", "timeline", "!11", "--kind", "massage"], "message"), (["nodes", "--format", "jso"], "json"),
            (["nodes", "hardware", "--model", "HELTEC_V4X"], "HELTEC_V4"),
        ] {
            let refused = try tool.start(arguments).wait()
            #expect(refused.status == 64 && refused.errors.contains("did you mean \(meant)?"), "\(refused)")
        }
    }

    @Test func `a source that no event has, and a packet that was never heard, are refused with what there is`() throws {
        let tool = try Tool(holding: [Line.text("hi", from: 0x11)])
        let source = try #require(try tool.run("events", "--format", "jsonl").objects.first?["source"] as? String)
        for list in [["events"], ["export", "events"], ["export", "receptions"]] {
            let found = try tool.start(list + ["--where", "source=\(source.uppercased())"]).wait()
            #expect(found.status == 0 && found.output.contains(source), "\(list): \(found)")
            let refused = try tool.start(list + ["--where", "source=\(source)x"]).wait()
            #expect(refused.status == 66 && refused.errors.contains("did you mean \(source)?"), "\(list): \(refused)")
        }
        for list in ["packets", "events"] {
            let refused = try tool.run(list, "--packet", "77", "--format", "csv")
            #expect(refused.status == 66 && refused.errors.contains("no packet with the id 77 was heard"), "\(refused)")
        }
        let id = try #require(try tool.run("packets", "--format", "jsonl").objects.first?["id"] as? Int)
        #expect(try tool.run("packets", "--packet", "\(id)", "--since", "2099").status == 0)
    }
}
