import ArgumentParser
import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshCommands

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ListsTests {
    private func tool() throws -> Tool {
        try Tool(holding: [
            Line.node(0x1000_0001, long: "Harbour", short: "H1", time: 1_760_000_000),
            Line.node(0x1000_0002, long: "Lighthouse", short: "L1", time: 1_760_000_100),
            Line.node(0x1000_0003, long: "Café", short: "C1", time: 1_760_000_200),
            Line.position(0x1000_0001, latitudeE7: 475_000_000, longitudeE7: 90_000_000, time: 1_760_000_005),
            Line.position(0x1000_0002, latitudeE7: 485_000_000, longitudeE7: 90_000_000, time: 1_760_000_010),
            Line.position(0x1000_0001, latitudeE7: 465_000_000, longitudeE7: 90_000_000, time: 1_760_000_015),
        ])
    }

    @Test func `nodes with the oldest first are those heard first, one of unknown time comes last in either order`() throws {
        let tool = try self.tool()
        let file = tool.folder.file("unknown.jsonl")
        try Data(Line.node(0x1000_0004, long: "Unknown", short: "U", time: 0).utf8).write(to: file)
        try tool.run("import", file.path)
        func names(_ arguments: String...) throws -> [String] {
            try tool.start(["nodes", "--format", "jsonl"] + arguments).wait().objects.compactMap { $0["long_name"] as? String }
        }
        #expect(try names() == ["Café", "Lighthouse", "Harbour", "Unknown"])
        for order in ["--oldest-first", "--reverse"] {
            #expect(try names(order) == ["Harbour", "Lighthouse", "Café", "Unknown"], "\(order)")
        }
        #expect(try tool.run("channels").lines.count > 1)
        #expect(try tool.run("nodes", "--columns", "").status == 64)
        #expect(try tool.run("nodes", "--columns", "snr dB", "--limit", "1").lines.first == "snr dB")
        #expect(try tool.run("nodes", "--columns", "long_nam").errors.contains("did you mean long_name?"))
    }

    @Test func `a channel in a condition is one of those that there are, as with --channel`() throws {
        let tool = try Tool(holding: [])
        try tool.run("simulate", "--seed", "9", "--nodes", "5", "--packets", "300", "--bad", "200")
        func count(_ arguments: String...) throws -> Int {
            try tool.start(["packets", "--format", "jsonl"] + arguments).wait().lines.count
        }
        let all = try count("--channel", "LongFast")
        let every = try count()
        #expect(all > 0 && all < every)
        #expect(try count("--where", "channel=longfast") == all)
        let unread = try tool.run("channels", "--format", "jsonl").objects.compactMap { $0["channel"] as? String }
            .first { $0.hasSuffix(", unreadable") }
        let hash = try #require(unread).replacing(", unreadable", with: "")
        #expect(try count("--where", "channel=\(hash)") == count("--channel", hash))
        let wrong = try tool.run("packets", "--where", "channel=LongFsat")
        #expect(wrong.status == 66 && wrong.errors.contains("did you mean LongFast?"), "\(wrong)")
        let known = try self.tool()
        try known.run("simulate", "--packets", "20")
        let ofHash = try known.run("packets", "--channel", "hash 8", "--format", "jsonl").objects
        #expect(!ofHash.isEmpty && ofHash.allSatisfy { $0["channel"] as? String == "LongFast" })
        #expect(try tool.run("export", "channels", "--limit", "1").lines.count == 1)
        #expect(try tool.run("export", "quarantine", "--since", "1d").status == 64)
    }

    @Test func `packets and events have the signal of their reception where it is asked for`() throws {
        let tool = try Tool(holding: [])
        try tool.run("simulate", "--seed", "9", "--nodes", "5", "--packets", "300")
        for list in ["packets", "events"] {
            let hours = try tool.run(list, "--bucket", "1h", "--mean", "snr", "--max", "rssi", "--format", "jsonl").objects
            #expect(!hours.isEmpty && hours.allSatisfy { ($0["mean_snr"] as? Double).map { (-30...20).contains($0) } ?? false })
            #expect(try tool.run(list, "--format", "csv", "--limit", "1").lines[0].contains("snr") == false)
        }
        let best = try tool.run(
            "packets", "--columns", "id,snr", "--sort", "snr", "--reverse", "--limit", "1", "--format", "jsonl"
        ).objects
        let id = try #require(best.first?["id"] as? Int)
        let receptions = try tool.run("packets", "receptions", "\(id)", "--format", "jsonl").objects.compactMap {
            $0["snr"] as? Double
        }
        #expect(try #require(best.first?["snr"] as? Double) == receptions.max())
    }

    @Test(arguments: ["snr", "receptions", "from", "time", "channel"], [false, true])
    func `a page of sorted packets is that page of all of them, of equal ones in the order of the list`(
        column: String, reverse: Bool
    ) throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "6", "--nodes", "25", "--packets", "11000")
        let sort = ["packets", "--columns", "id,\(column)", "--format", "csv", "--sort", column] + (reverse ? ["--reverse"] : [])
        let all = try tool.start(sort).wait().lines.dropFirst()
        #expect(all.count > 5_000)
        for (limit, offset) in [(1, 0), (30, 25), (700, 1_300)] {
            let page = try tool.start(sort + ["--limit", String(limit), "--offset", String(offset)]).wait().lines.dropFirst()
            #expect(Array(page) == Array(all.dropFirst(offset).prefix(limit)), "\(column) \(limit) \(offset)")
        }
    }

    @Test func `found messages, tracks and receptions are counted, sorted and turned round like other lists`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Rover", short: "RO"), Line.node(0x22, long: "Rover base", short: "RB"),
            Line.text("water here", from: 0x11, time: 1_760_000_100),
            Line.text("water and water", from: 0x22, time: 1_760_000_200),
            Line.position(0x11, latitudeE7: 500_000_000, longitudeE7: 80_000_000, time: 1_760_000_100),
            Line.position(0x11, latitudeE7: 500_010_000, longitudeE7: 80_000_000, time: 1_760_000_200),
            Line.position(0x11, latitudeE7: 500_010_000, longitudeE7: 80_020_000, time: 1_760_000_250),
        ])
        func cells(_ line: String) throws -> [[String]] {
            let outcome = try tool.start(line.split(separator: " ").map(String.init) + ["--format", "csv"]).wait()
            #expect(outcome.status == 0, "\(line): \(outcome.errors)")
            return outcome.lines.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        }
        let best = try cells("search water --columns text")
        #expect(best.count == 2 && best[0] == ["water and water"])
        #expect(try cells("search water --columns text --reverse") == best.reversed())
        #expect(try cells("search water --columns text --reverse --limit 1 --offset 1") == [best[0]])
        #expect(try cells("search water --columns from --where from=!11") == [["!00000011"]])
        #expect(try cells("search water --count-by day") == [["2025-10-09", "2"]])
        #expect(try cells("search --in nodes rover --columns node --sort node --reverse") == [["!00000022"], ["!00000011"]])
        let track = "positions track --node Rover"
        let steps = try cells("\(track) --columns time,distance")
        #expect(steps.map(\.last) == ["", "111.2", "142.9"])
        #expect(try cells("\(track) --columns time,distance --reverse") == steps.reversed())
        #expect(try cells("\(track) --columns time,distance --reverse --limit 1") == [steps[2]])
        #expect(try cells("\(track) --columns distance --where distance>120") == [["142.9"]])
        let days = try cells("\(track) --count-by day --sum distance")
        #expect(days.map { $0.prefix(2) } == [["2025-10-09", "3"]] && days[0][2].hasPrefix("254.1"), "\(days)")
        let id = try #require(
            tool.run("packets", "--where", "port=POSITION_APP", "--format", "jsonl").objects.first?["id"] as? Int)
        #expect(try cells("packets receptions \(id) --count-by gateway") == [["!0000abcd", "1"]])
        #expect(try cells("packets receptions \(id) --until 2025-01-01").isEmpty)
        #expect(try tool.run("packets", "receptions", "99", "--count-by", "gateway").status == 66)
    }

    @Test func `rows of a list are chosen, sorted and cut by any column, hidden ones included`() throws {
        let tool = try tool()
        func latitudes(_ arguments: String...) throws -> [Double] {
            let outcome = try tool.start(["positions", "--format", "jsonl"] + arguments).wait()
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome.objects.compactMap { $0["latitude"] as? Double }
        }
        #expect(try latitudes("--sort", "latitude") == [46.5, 47.5, 48.5])
        #expect(try latitudes("--sort", "latitude", "--reverse") == [48.5, 47.5, 46.5])
        #expect(try latitudes("--sort", "latitude", "--limit", "1", "--offset", "1") == [47.5])
        #expect(try latitudes("--where", "node=Harbour", "--oldest-first") == [47.5, 46.5])
        #expect(try latitudes("--where", "node=Harbour", "--reverse") == [47.5, 46.5])
        #expect(try latitudes("--where", "node!=!10000001") == [48.5])
        #expect(try latitudes("--where", "time>=2025-10-09T08:53:30Z", "--sort", "time") == [48.5, 46.5])
        #expect(try latitudes("--where", "latitude<48", "--where", "sequence>4") == [46.5])
        #expect(try latitudes("--where", "latitude>46", "--node", "!10000001", "--limit", "1") == [46.5])
        let table = try tool.run("positions", "--columns", "node,packetId,latitude", "--sort", "latitude", "--limit", "1")
        #expect(table.lines.first == "node       packet id  latitude" && table.lines.count == 2, "\(table)")
        #expect(
            try tool.run("nodes", "--columns", "long_name", "--sort", "longName", "--format", "csv").lines.map(String.init) == [
                "long_name", "Café", "Harbour", "Lighthouse",
            ])
    }

    @Test func `lists that take no page from the ledger have times and pages, too`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "1000")
        for (list, column) in [(["channels"], "last_heard"), (["nodes", "hardware"], "time")] {
            func times(_ arguments: String...) throws -> [String] {
                let outcome = try tool.start(list + ["--format", "jsonl"] + arguments).wait()
                #expect(outcome.status == 0, "\(outcome.errors)")
                return outcome.objects.compactMap { $0[column] as? String }
            }
            let all = try times()
            let middle = try #require(all.sorted().dropFirst(all.count / 2).first)
            #expect(all.count > 2)
            #expect(try times("--oldest-first") == all.sorted())
            #expect(try times("--since", middle) == all.filter { $0 >= middle })
            #expect(try times("--until", middle) == all.filter { $0 < middle })
            #expect(try times("--limit", "2", "--offset", "1") == Array(all.dropFirst().prefix(2)))
        }
    }

    @Test(arguments: [
        "nodes", "positions", "telemetry", "telemetry --kind device", "messages", "waypoints --all", "links", "links traceroutes",
        "links neighbors !10000001", "gateways", "gateways --nodes", "gateways mapreports", "telemetry sensors", "nodes history",
        "nodes models", "nodes radios", "nodes timeline !10000001", "channels", "telemetry --unknown",
    ])
    func `every list names the columns that it has where another one is asked for`(_ list: String) throws {
        let tool = try tool()
        let words = list.split(separator: " ").map(String.init)
        let csv = try tool.start(words + ["--format", "csv"]).wait()
        #expect(csv.status == 0, "\(csv.errors)")
        let columns = csv.lines[0].split(separator: ",").map(String.init)
        for option in ["--columns", "--sort"] {
            let refused = try tool.start(words + ["--format", "csv", option, "colour"]).wait()
            #expect(refused.status == 64 && columns.allSatisfy { refused.errors.contains($0) }, "\(refused.errors)")
        }
        #expect(try tool.start(words + ["--where", "colour=red"]).wait().status == 64)
        let first = columns[0]
        let sorted = try tool.start(words + ["--format", "csv", "--sort", first, "--columns", first]).wait()
        #expect(
            sorted.status == 0 && sorted.lines.count == csv.lines.count && sorted.lines.first == Substring(first), "\(sorted)")
    }

    @Test func `a metric that no row of the table has can be asked for`() throws {
        let outcome = try tool().run("telemetry", "--kind", "device", "--where", "battery_level<20", "--sort", "voltage")
        #expect(outcome.status == 0 && outcome.errors.contains("no telemetry"), "\(outcome)")
    }

    /// A fifteenth list as CONTRIBUTING describes it: what is said of it, one option, and a finder.
    private struct PairList: RowList {
        static let about = ListDescription(name: "pairs", abstract: "What each gateway heard of each node.")
        @Option(help: "Only of this gateway.") var gateway: NodeArgument?

        func visit(_ query: RowQuery, in ledger: Ledger, _ body: (GatewayNodeRow) -> Void) throws {
            try ledger.gatewayNodes(by: gateway?.number(in: ledger), query).forEach(body)
        }
    }

    @Test func `a list is its description, its options and its finder`() async throws {
        #expect(ObjectIdentifier(PairList.command) == ObjectIdentifier(ListCommand<PairList>.self))
        let help = ListCommand<PairList>.helpMessage()
        for option in ["--gateway", "--as-of", "--where", "--sort", "--columns", "--limit", "--since", "--format"] {
            #expect(help.contains(option), "\(option)")
        }
        let command = try await ListCommand<PairList>.asyncParse(["--gateway", "!11", "--sort", "node", "--limit", "2"])
        #expect(command.list.gateway?.text == "!11" && command.options.query.limit == .max)
    }
}
