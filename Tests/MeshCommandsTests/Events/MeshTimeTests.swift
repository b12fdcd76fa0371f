import Foundation
import TestKit
import Testing

/// Events and packets by when the mesh heard them, of recordings of 2025 that are imported today, the later one first.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct MeshTimeTests {
    private func imported() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        for (name, seed, start) in [("late", "4", "2025-09-10T20:00:00Z"), ("early", "5", "2025-09-09T21:00:00Z")] {
            let file = tool.folder.file(name).path
            let made = try tool.run(
                "simulate", "--seed", seed, "--nodes", "20", "--packets", "600", "--start", start, "--to", file, "--as",
                "envelopes")
            #expect(made.status == 0, "\(made.errors)")
            #expect(try tool.run("import", file).status == 0)
        }
        return tool
    }

    private func rows(_ tool: Tool, _ arguments: String) throws -> [[String: Any]] {
        let words =
            arguments.split(separator: " ").map(String.init) + (arguments.hasPrefix("export") ? [] : ["--format", "jsonl"])
        let outcome = try tool.start(words).wait()
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.objects
    }

    private func texts(_ rows: [[String: Any]], _ column: String) -> [String] { rows.map { $0[column] as? String ?? "" } }
    private func numbers(_ rows: [[String: Any]], _ column: String) -> [Int] { rows.map { $0[column] as? Int ?? 0 } }

    @Test(arguments: [("events", "sequence"), ("packets", "first_sequence")])
    func `the newest that was heard comes first, in whatever order recordings were imported`(list: String, key: String) throws {
        let tool = try imported()
        let all = try rows(tool, list)
        let times = texts(all, "time")
        #expect(times == times.sorted(by: >) && times.contains { $0 < "2025-09-10" } && times.contains { $0 > "2025-09-10T20" })
        #expect(numbers(all, key) != numbers(all, key).sorted(by: >) && Set(numbers(all, key)).count == all.count)
        #expect(numbers(try rows(tool, "\(list) --oldest-first"), key) == numbers(all, key).reversed())
        #expect(numbers(try rows(tool, "\(list) --reverse --limit 9"), key) == numbers(all, key).suffix(9).reversed())
        #expect(numbers(try rows(tool, "\(list) --limit 30 --offset 25"), key) == Array(numbers(all, key)[25..<55]))
        let arrived = try rows(tool, "\(list) --by arrival")
        #expect(numbers(arrived, key) == numbers(all, key).sorted(by: >))
        #expect(numbers(try rows(tool, "\(list) --by arrival --oldest-first"), key) == numbers(all, key).sorted())
    }

    @Test func `each row says what tells when it was heard, and marks those of which only the import's time is known`() throws {
        let tool = try imported()
        for list in ["events", "packets"] {
            let all = try rows(tool, list)
            #expect(Set(texts(all, "time_source")) == ["receiver", "import"])
            for row in all {
                let isImport = row["time_source"] as? String == "import"
                let (time, arrival) = (row["time"] as? String, row["arrival"] as? String)
                #expect(isImport ? time == arrival : time?.hasPrefix("2025-09") == true && time != arrival)
            }
            #expect(try tool.run(list).lines.first?.contains("time source") == true)
            #expect(try tool.run(list, "--by", "arrival").lines.first?.contains("arrival") == true)
        }
        let live = try Tool()
        try live.run("init")
        try live.run("simulate", "--packets", "30")
        #expect(Set(texts(try rows(live, "events"), "time_source")) == ["recorded"])
        try live.run("nodes", "alias", try #require(texts(try rows(live, "nodes"), "node").first), "Home")
        #expect(texts(try rows(live, "events --limit 1"), "time_source") == ["arrival"])
    }

    @Test(arguments: ["events", "packets"]) func `a day of 2025 finds what was heard on it, and --by arrival what came in on it`(
        list: String
    ) throws {
        let tool = try imported()
        let key = list == "events" ? "sequence" : "first_sequence"
        let all = try rows(tool, list)
        let day = all.filter { ($0["time"] as? String)?.hasPrefix("2025-09-10") == true }
        #expect(day.count > 10 && day.count < all.count)
        #expect(numbers(try rows(tool, "\(list) --since 2025-09-10 --until 2025-09-11"), key) == numbers(day, key))
        #expect(try rows(tool, "\(list) --since 2025-09-10 --until 2025-09-11 --by arrival").isEmpty)
        #expect(try rows(tool, "\(list) --since 1h --by arrival").count == all.count)
        let hours = try rows(tool, "\(list) --since 2025-09-10 --until 2025-09-11 --count-by hour")
        #expect(numbers(hours, "count").reduce(0, +) == day.count)
        #expect(texts(hours, "hour").allSatisfy { $0.hasPrefix("2025-09-10") })
        #expect(texts(try rows(tool, "\(list) --count-by day --by arrival"), "day").allSatisfy { !$0.hasPrefix("2025") })
        let port = try rows(tool, "\(list) --since 2025-09-10 --until 2025-09-11 --port POSITION_APP")
        #expect(numbers(port, key) == numbers(day.filter { $0["port"] as? String == "POSITION_APP" }, key) && !port.isEmpty)
        #expect(numbers(try rows(tool, "\(list) --where time>=2025-09-10 --where time<2025-09-11"), key) == numbers(day, key))
    }

    @Test func `exports of events and packets take the time of the mesh, and the order of the log`() throws {
        let tool = try imported()
        let day = try rows(tool, "events --since 2025-09-10 --until 2025-09-11 --by heard")
        let exported = try rows(tool, "export events --since 2025-09-10 --until 2025-09-11")
        #expect(numbers(exported, "sequence") == numbers(day, "sequence").sorted())
        #expect(numbers(try rows(tool, "export events --limit 7 --offset 600"), "sequence") == Array(601...607))
        #expect(try rows(tool, "export events --since 1h --by arrival").count == rows(tool, "events").count)
        #expect(try rows(tool, "export events --until 2025-10 --by arrival").isEmpty)
        let packets = Set(numbers(try rows(tool, "export packet_events --since 2025-09-10 --until 2025-09-11"), "sequence"))
        #expect(packets.isSubset(of: numbers(day, "sequence")) && packets.count > day.count / 2)
        let csv = try tool.run("export", "events", "--format", "csv", "--limit", "1").lines
        #expect(csv.count == 2 && csv.first == "sequence,arrival,reception,source,encoding,masked,erased,payload_b64")
    }

    @Test func `as of a time of the mesh, nothing that was heard later is listed, with a selection or without`() throws {
        let tool = try imported()
        let moment = "2025-09-10T12:00:00Z"
        let all = try rows(tool, "events")
        let then = all.filter { ($0["time"] as? String ?? "") <= moment }
        #expect(!then.isEmpty && then.count < all.count)
        for option in ["", " --by arrival", " --oldest-first"] {
            let found = try rows(tool, "events --as-of \(moment)" + option)
            #expect(numbers(found, "sequence").sorted() == numbers(then, "sequence").sorted(), "\(option)")
        }
        let port = numbers(then.filter { $0["port"] as? String == "POSITION_APP" }, "sequence")
        #expect(numbers(try rows(tool, "events --as-of \(moment) --port POSITION_APP"), "sequence") == port && !port.isEmpty)
        #expect(numbers(try rows(tool, "export events --as-of \(moment)"), "sequence") == numbers(then, "sequence").sorted())
        let heard = Set(numbers(then, "sequence"))
        #expect(heard.isSuperset(of: numbers(try rows(tool, "export packet_events --as-of \(moment)"), "sequence")))
        let packets = try rows(tool, "packets --as-of \(moment)")
        #expect(heard.isSuperset(of: packets.flatMap { $0["sequences"] as? [Int] ?? [] }) && !packets.isEmpty)
        #expect(packets.count == (try rows(tool, "packets")).filter { ($0["time"] as? String ?? "") <= moment }.count)
        #expect(try rows(tool, "events --as-of 2025-02").isEmpty && rows(tool, "packets --as-of 2025-02").isEmpty)
    }

    @Test func `packets that no key opens have the port unreadable wherever a port is shown`() throws {
        let tool = try imported()
        for list in ["events", "packets"] {
            let all = try rows(tool, list)
            let ports = texts(all, "port")
            #expect(ports.contains("unreadable") && ports.contains("TEXT_MESSAGE_APP"), "\(list)")
            let counted = try rows(tool, "\(list) --count-by port")
            #expect(
                counted.first { $0["port"] as? String == "unreadable" }?["count"] as? Int == ports.count { $0 == "unreadable" })
            #expect(try rows(tool, "\(list) --where port=unreadable").count == ports.count { $0 == "unreadable" })
        }
        // From the index alone, and from the packets themselves.
        for columns in ["port", "channel,port", "node"] {
            let (index, packets) = (
                try tool.run("packets", "--count-by", columns, "--format", "csv"),
                try tool.run("packets", "--count-by", columns, "--by", "arrival", "--since", "2000-01-01", "--format", "csv")
            )
            #expect(index.output == packets.output && index.lines.count > 2)
        }
    }

    @Test func `events and packets take the options of every list`() throws {
        let tool = try imported()
        let all = try rows(tool, "events")
        let large = all.filter { $0["bytes"] as? Int ?? 0 > 100 }
        #expect(numbers(try rows(tool, "events --where bytes>100"), "sequence") == numbers(large, "sequence") && !large.isEmpty)
        #expect(try rows(tool, "events --where bytes>100 --limit 3").count == 3)
        let sorted = numbers(try rows(tool, "events --sort bytes --reverse"), "bytes")
        #expect(sorted == numbers(all, "bytes").sorted(by: >))
        #expect(numbers(try rows(tool, "events --sort bytes --reverse --limit 4 --offset 2"), "bytes") == Array(sorted[2..<6]))
        let csv = try tool.run("packets", "--columns", "from,port", "--limit", "2", "--format", "csv").lines
        #expect(csv.first == "from,port" && csv.count == 3)
        let from = try #require(all.first { $0["from"] is String }?["from"] as? String)
        let own = try rows(tool, "packets --where from=\(from)")
        #expect(!own.isEmpty && texts(own, "from").allSatisfy { $0 == from })
        #expect(try rows(tool, "packets --bucket 1h --mean receptions").allSatisfy { $0["mean_receptions"] is Double })
        #expect(try tool.run("events", "--sort", "colour").status == 64)
        #expect(try tool.run("events").lines.count == all.count + 1)
    }

    /// A text in MQTT's JSON form; its time is unknown where it is 0.
    private func line(_ id: Int, from sender: UInt32, by gateway: String, at time: Int) -> String {
        #"{"channel":0,"from":\#(sender),"id":\#(id),"payload":{"text":"text \#(id)"},"rssi":-60,"sender":"\#(gateway)","snr":5.5,"#
            + #""timestamp":\#(time),"to":4294967295,"type":"text"}"#
    }

    @Test func `a packet that two gateways heard is not one's alone, whatever lies between its receptions in the log`() throws {
        let tool = try Tool(holding: [
            line(1, from: 17, by: "!bbbbbbbb", at: 1_760_000_000), line(2, from: 18, by: "!bbbbbbbb", at: 1_740_000_000),
            line(1, from: 17, by: "!cccccccc", at: 1_760_000_001), line(3, from: 19, by: "!dddddddd", at: 0),
        ])
        for window in ["--since 2025-10-01", "--since 2025-10-01 --until 2025-11-01"] {
            let shares = try rows(tool, "gateways --alone \(window)")
            #expect(texts(shares, "gateway").sorted() == ["!bbbbbbbb", "!cccccccc"], "\(shares)")
            #expect(numbers(shares, "packets") == [1, 1] && numbers(shares, "alone") == [0, 0], "\(shares)")
        }
        let marks = try rows(tool, "gateways --alone").map { ($0["gateway"] as? String ?? "", $0["is_time_of_import"] as? Bool) }
        #expect(marks.allSatisfy { $0.1 == ($0.0 == "!dddddddd") }, "\(marks)")
        let all = try tool.run("gateways", "--alone")
        #expect(all.lines.first { $0.hasPrefix("!dddddddd") }?.contains("imported ") == true, "\(all)")
        #expect(all.lines.first { $0.hasPrefix("!bbbbbbbb") }?.contains("2025-10-09T") == true, "\(all)")
    }

    @Test func `what has no time of the mesh is in no window of it, and in no day`() throws {
        let tool = try Tool(holding: [
            line(1, from: 17, by: "!bbbbbbbb", at: 1_760_000_000), line(2, from: 18, by: "!bbbbbbbb", at: 0),
            line(3, from: 19, by: "!bbbbbbbb", at: 0),
        ])
        for list in ["packets", "events", "messages", "nodes", "gateways --nodes"] {
            #expect(try rows(tool, "\(list) --since 1d").isEmpty, "\(list)")
            #expect(try rows(tool, "\(list) --since 2025-10-01").count == 1, "\(list)")
            #expect(try rows(tool, "\(list) --since 2025-10-01 --limit 1").count == 1, "\(list)")
            #expect(try rows(tool, "\(list) --since 2025-10-01 --limit 1 --offset 1").isEmpty, "\(list)")
            #expect(try rows(tool, list).count == 3, "\(list)")
        }
        for list in ["packets", "events", "messages"] {
            #expect(numbers(try rows(tool, "\(list) --since 2025 --count-by channel"), "count") == [1], "\(list)")
            let days = try rows(tool, "\(list) --count-by day")
            #expect(numbers(days, "count") == [1, 2] && days.last?["day"] is NSNull, "\(days)")
            #expect(try tool.run(list, "--bucket", "1h").lines.last?.hasPrefix("imported ") == true, "\(list)")
        }
        #expect(try rows(tool, "packets --since 1d --by arrival").count == 3)
        #expect(try rows(tool, "gateways --alone --since 1d").isEmpty)
    }

    @Test(arguments: [
        ("search water", 2), ("nodes timeline !00000011", 2), ("links neighbors !00000011", 1),
        ("positions track --node !00000011", 1),
    ])
    func `answers about one node, and searches, leave out of a window what has no time of the mesh, and mark it`(
        list: String, count: Int
    ) throws {
        let neighbors =
            #"{"from":17,"to":4294967295,"id":5,"channel":0,"type":"neighborinfo","sender":"!0000abcd","timestamp":0,"#
            + #""payload":{"node_id":17,"node_broadcast_interval_secs":900,"last_sent_by_id":17,"neighbors_count":1,"#
            + #""neighbors":[{"node_id":18,"snr":5.5}]}}"#
        let tool = try Tool(holding: [
            Line.text("water here", from: 17, time: 0), Line.text("water there", from: 18, time: 0),
            Line.position(17, latitudeE7: 470_000_000, longitudeE7: 80_000_000, time: 0), neighbors,
        ])
        let all = try rows(tool, list)
        #expect(all.count == count, "\(all)")
        for window in ["--since 1d", "--until now", "--since 2025 --limit 5"] {
            #expect(try rows(tool, "\(list) \(window)").isEmpty, "\(list) \(window)")
        }
        let table = try tool.start(list.split(separator: " ").map(String.init)).wait()
        #expect(table.output.contains("imported"), "\(table.output)")
    }

    @Test func `a window tells a person how many rows of unknown time it leaves out, and a program where nothing else is left`()
        throws
    {
        let tool = try Tool(holding: [
            line(1, from: 17, by: "!bbbbbbbb", at: 1_760_000_000), line(2, from: 18, by: "!bbbbbbbb", at: 0),
            line(3, from: 19, by: "!bbbbbbbb", at: 0),
        ])
        func note(_ arguments: String, onTerminal: Bool = true, since: String = "2025-10-01") throws -> String {
            let words = (arguments + " --since \(since)").split(separator: " ").map(String.init)
            guard onTerminal else { return try tool.start(words).wait().errors }
            return try tool.shown(words, columns: 200).lines.filter { $0.contains("left out") }.joined(separator: "\n")
        }
        let (by, all) = ("--by arrival chooses by the time of the import", "without --since and --until, all are counted")
        for (list, noun, advice) in [
            ("packets", "packet", by), ("events", "event", by), ("gateways", "packet", all), ("gateways --alone", "packet", all),
        ] {
            for more in ["", " --format csv", " --limit 1"] {
                let expected = "(2 \(noun)s of unknown time are left out; \(advice))"
                #expect(try note(list + more) == expected, "\(list)\(more)")
                #expect(try note(list + more, onTerminal: false).isEmpty, "\(list)\(more)")
            }
        }
        let rows = "(2 rows of unknown time are left out; without --since and --until, all are listed)"
        for list in ["nodes", "messages", "messages --count-by channel"] { #expect(try note(list) == rows, "\(list)") }
        let nothing = try note("packets --node !12", onTerminal: false)
        #expect(nothing == "no packets\n(1 packet of unknown time is left out; \(by))\n")
        #expect(try note("packets --where from=!12").contains("(1 packet of unknown time is left out"))
        for list in ["packets --node !11", "packets --by arrival", "nodes --where node=!11", "waypoints"] {
            #expect(try note(list).isEmpty, "\(list)")
        }
        // What was imported before a window begins was heard before it.
        for list in ["packets", "events", "messages", "nodes", "gateways"] {
            #expect(try !note(list, onTerminal: false, since: "now").contains("left out"), "\(list)")
        }
        #expect(try tool.run("packets").errors.isEmpty)
    }

    @Test func `a window that chooses rows by when they were last heard says that their counts are of all time`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "7", "--nodes", "20", "--packets", "300", "--start", "2025-09-09T21:00:00Z")
        for (list, counts) in [
            ("nodes", ["packets"]), ("channels", ["packets", "receptions"]), ("links", ["direct", "reported", "traced"]),
        ] {
            let (heading, windowed) = (try tool.run(list).lines[0], try tool.run(list, "--since", "2025-09-09").lines[0])
            for count in counts {
                #expect(!heading.contains("all time") && windowed.contains("\(count) (all time)"), "\(windowed)")
            }
            let help = try tool.run("help", list).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(help.contains("by when they were last heard"), "\(help)")
        }
        let named = try tool.run("nodes", "--since", "2025-09-09", "--format", "csv", "--columns", "node,packets")
        #expect(named.lines[0] == "node,packets")
    }

    @Test func `exports and views leave out of a window what lists do`() throws {
        let tool = try Tool(holding: [
            line(1, from: 17, by: "!bbbbbbbb", at: 1_760_000_000), line(2, from: 18, by: "!bbbbbbbb", at: 0),
            line(3, from: 19, by: "!bbbbbbbb", at: 0),
        ])
        for what in ["packets", "receptions", "events", "nodes", "messages", "gateway_nodes"] {
            #expect(try rows(tool, "export \(what) --since 2025-10-01").count == 1, "\(what)")
            #expect(try rows(tool, "export \(what) --since 2025-10-01 --offset 1").isEmpty, "\(what)")
            #expect(try rows(tool, "export \(what)").count == 3, "\(what)")
            let csv = try tool.run("export", what, "--since", "2025-10-01", "--format", "csv")
            #expect(csv.lines.count == 2, "\(what): \(csv)")
        }
        for view in ["nodes", "messages"] {
            #expect(try rows(tool, "view \(view) --since 2025-10-01").count == 1, "\(view)")
            #expect(try rows(tool, "view \(view)").count == 3, "\(view)")
        }
    }

    @Test func `a gateway of which only the time of the import is known comes last`() throws {
        let tool = try Tool(holding: [
            line(1, from: 17, by: "!bbbbbbbb", at: 1_760_000_000), line(2, from: 18, by: "!dddddddd", at: 0),
        ])
        #expect(texts(try rows(tool, "gateways"), "gateway") == ["!bbbbbbbb", "!dddddddd"])
        #expect(texts(try rows(tool, "gateways --offset 1 --limit 1"), "gateway") == ["!dddddddd"])
    }

    @Test func `the counts of gateways are those of the window`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "7", "--nodes", "20", "--packets", "900", "--start", "2025-09-09T21:00:00Z")
        let counted = [
            "gateway", "receptions", "packets", "nodes", "own", "unreadable", "via_mqtt", "lowest_snr", "highest_rssi",
        ]
        func counts(_ arguments: String, _ columns: [String]) throws -> [[String]] {
            try rows(tool, arguments).map { row in columns.map { "\(row[$0] ?? "")" } }.sorted { $0.joined() < $1.joined() }
        }
        #expect(try counts("gateways --since 2025-09", counted) == counts("gateways", counted))
        let pairs = ["gateway", "node", "receptions", "highest_snr"]
        #expect(try counts("gateways --nodes --since 2025-09", pairs) == counts("gateways --nodes", pairs))

        let middle = "2025-09-09T21:06:00Z"
        for window in ["--since \(middle)", "--until \(middle)"] {
            let heard = Dictionary(
                grouping: try rows(tool, "export receptions \(window)"), by: { $0["gateway"] as? String ?? "" })
            let found = try rows(tool, "gateways \(window)")
            #expect(found.count == heard.keys.count { !$0.isEmpty } && found.count > 1, "\(found)")
            for gateway in found {
                let name = gateway["gateway"] as? String ?? ""
                #expect(gateway["receptions"] as? Int == heard[name]?.count, "\(name) \(window)")
                let others = Set(heard[name, default: []].compactMap { $0["from"] as? String }).subtracting([name])
                #expect(try rows(tool, "gateways --by \(name) \(window)").count == others.count, "\(name) \(window)")
            }
            #expect(try counts("export gateways \(window)", counted) == counts("gateways \(window)", counted))
        }
    }

    @Test func `the receptions of a packet have the time of the mesh`() throws {
        let tool = try Tool(holding: [
            line(1, from: 17, by: "!bbbbbbbb", at: 1_760_000_000), line(2, from: 18, by: "!bbbbbbbb", at: 0),
        ])
        let known = try tool.run("packets", "receptions", "1")
        #expect(known.lines[0].contains(" time ") && known.lines[1].contains("2025-10-09T08:53:20Z"), "\(known)")
        #expect(try tool.run("packets", "receptions", "2").lines[1].contains("imported "))
        #expect(try rows(tool, "packets receptions 2").first?["time_source"] as? String == "import")
    }
}
