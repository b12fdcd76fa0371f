import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshCommands

/// Conditions on when something was heard.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ConditionTimes {
    /// Heard at 23:59:58, 00:00:01 and 12:00 of the 9th of October 2025, and at a time that nothing tells.
    private func tool() throws -> Tool {
        try Tool(holding: [
            heard(1, by: "!bbbbbbbb", at: 1_759_967_998), heard(1, by: "!cccccccc", at: 1_759_968_001),
            heard(2, by: "!bbbbbbbb", at: 1_760_011_200), heard(3, by: "!bbbbbbbb", at: 0),
        ])
    }

    private func heard(_ id: Int, by gateway: String, at time: Int) -> String {
        #"{"channel":0,"from":\#(id + 16),"id":\#(id),"payload":{"text":"text \#(id)"},"rssi":-60,"sender":"\#(gateway)","snr":5.5,"#
            + #""timestamp":\#(time),"to":4294967295,"type":"text"}"#
    }

    private func rows(_ tool: Tool, _ list: String, _ conditions: [String]) throws -> [[String: Any]] {
        let form = list.hasPrefix("export") ? [] : ["--format", "jsonl"]
        let outcome = try tool.start(
            list.split(separator: " ").map(String.init) + conditions.flatMap { ["--where", $0] } + form
        ).wait()
        #expect(outcome.status == 0, "\(list) \(conditions): \(outcome.errors)")
        return outcome.objects
    }

    @Test(arguments: [
        ("time=2025-10-09", [2]), ("time=2025-10-08", [1]), ("time=2025-10", [1, 2]), ("time=2025", [1, 2]),
        ("time=2024", []), ("time=2025-10-09 12:00", [2]), ("time=2025-10-09T12:00:00Z", [2]), ("time=1760011200", [2]),
        ("time=2025-10-08 23:59", [1]), ("time=2025-10-08 23:59:57", []), ("time!=2025-10-09", [1, 3]),
        ("time<>2025-10-09", [1, 3]), ("time>=2025-10-09", [2]), ("time<2025-10-09", [1]),
    ])
    func `a day, month, year or minute is all of it, and nothing of unknown time is in it`(condition: String, ids: [Int]) throws {
        let tool = try tool()
        let found = try rows(tool, "packets", [condition]).compactMap { $0["id"] as? Int }
        #expect(found.sorted() == ids, "\(condition)")
        let exported = try rows(tool, "export packets", [condition]).compactMap { $0["id"] as? Int }
        #expect(exported.sorted() == ids, "\(condition)")
        let messages = try rows(tool, "view messages", [condition]).compactMap { $0["id"] as? Int }
        #expect(messages.sorted() == ids, "\(condition)")
    }

    @Test func `a condition that leaves out all that there is, since no time of it is known, says so`() throws {
        let tool = try Tool(holding: [heard(3, by: "!bbbbbbbb", at: 0)])
        let note = "(1 row of unknown time is left out; without a condition on the time, all are listed)"
        for list in [["packets"], ["messages"], ["view", "messages"], ["export", "packets"]] {
            let outcome = try tool.start(list + ["--where", "time>=2025"]).wait()
            #expect(outcome.status == 0 && outcome.errors.contains(note), "\(list): \(outcome)")
            #expect(try !tool.start(list + ["--where", "time!=2025"]).wait().errors.contains("left out"), "\(list)")
        }
        #expect(try rows(tool, "packets", ["arrival>=today"]).count == 1)
        let other = try tool.run("packets", "--where", "time>=2025", "--where", "port=POSITION_APP")
        #expect(!other.errors.contains("left out"), "what other conditions leave out is not counted: \(other)")
    }

    @Test func `exported receptions are those within the times, whenever their packets began`() throws {
        let tool = try tool()
        func gateways(_ window: String) throws -> [String] {
            try rows(tool, "export receptions \(window)", []).map { "\($0["from"] ?? "") \($0["gateway"] ?? "")" }
        }
        #expect(try gateways("--since 2025-10-09 --until 2025-10-10").sorted() == ["!00000011 !cccccccc", "!00000012 !bbbbbbbb"])
        #expect(try gateways("--until 2025-10-09") == ["!00000011 !bbbbbbbb"])
        #expect(try gateways("--by arrival --since today").count == 4)
        #expect(try rows(tool, "export receptions", ["time=2025-10-09"]).count == 2)
        let first = try #require(try rows(tool, "export receptions --until 2025-10-09", []).first)
        #expect(first["time"] as? String == "2025-10-08T23:59:58.000000Z" && first["time_source"] as? String == "receiver")
    }

    @Test func `SQL finds receptions by when they were heard`() throws {
        let tool = try tool()
        func answer(_ condition: String) throws -> [String] {
            let query = "SELECT gateway, datetime(time, 'unixepoch') FROM receptions WHERE \(condition) ORDER BY time"
            return try tool.start(["sql", query, "--format", "csv"]).wait().lines.dropFirst().map(String.init)
        }
        #expect(
            try answer("time >= 1759968000 AND time < 1760054400")
                == ["!cccccccc,2025-10-09 00:00:01", "!bbbbbbbb,2025-10-09 12:00:00"])
        #expect(try answer("time = 1759967998") == ["!bbbbbbbb,2025-10-08 23:59:58"])
        #expect(try answer("time < 1") == [])
    }

    @Test(arguments: [
        ("2026-02", "2026-03-01T00:00:00Z"), ("2026", "2027-01-01T00:00:00Z"), ("2026-12-31", "2027-01-01T00:00:00Z"),
        ("2026-12", "2027-01-01T00:00:00Z"), ("2026-01-31 10:15", "2026-01-31T10:16:00Z"),
        ("2026-01-31T10:15:30+02:00", "2026-01-31T08:15:31Z"), ("2026-01-31T10:15-02:00", "2026-01-31T12:16:00Z"),
        ("1769854530", "2026-01-31T10:15:31Z"), ("2026-01-31T10:15:30.5Z", ""), ("2h ago", ""), ("2h", ""), ("now", ""),
        ("1769854530000", ""),
    ])
    func `a time that names a span ends where that does`(text: String, end: String) throws {
        let time = try #require(TimeArgument(text))
        #expect(time.end.map { TimeText.iso($0.seconds) } ?? "" == end)
    }

    @Test func `as of an earlier time, relative times count from then`() throws {
        let start = 1_760_000_000
        let tool = try Tool(
            holding: (0..<20).map { Line.text("word \($0)", from: UInt32(0x11 + $0), time: start + $0 * 60) })
        let asOf = ["--as-of", "2025-10-09T09:13:00Z"]
        func count(_ arguments: [String]) throws -> Int {
            let outcome = try tool.start(arguments + asOf + ["--format", "jsonl"]).wait()
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome.objects.count
        }
        for list in ["messages", "packets", "events"] {
            #expect(try count([list, "--since", "5m"]) == count([list, "--since", "2025-10-09T09:08:00Z"]), "\(list)")
            #expect(try count([list, "--until", "5m ago"]) == count([list, "--until", "2025-10-09T09:08:00Z"]), "\(list)")
        }
        let (heard, silent) = (try count(["nodes", "--since", "5m"]), try count(["nodes", "--silent", "5m"]))
        #expect(heard == 5 && silent == 15)
        #expect(try count(["nodes", "--where", "last_heard>=5m"]) == heard)
        #expect(try count(["messages", "--where", "time<today"]) == 0 && count(["messages", "--since", "today"]) == 20)
        #expect(try count(["nodes", "--where", "last_heard<now"]) == 20)
    }
}
