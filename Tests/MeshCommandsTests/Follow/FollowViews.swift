import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built meshledger"), .timeLimit(.minutes(20)))
struct FollowViews {
    /// What a program has that does what the lines say.
    private func state(_ texts: [String]) -> [String: String] {
        var state: [String: String] = [:]
        for line in texts.joined().split(separator: "\n") {
            // The last line may be cut by the kill.
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { continue }
            let key = "\(object["table"] ?? "") \(object["key"] ?? "")"
            switch object["op"] as? String {
            case "reset": state = [:]
            case "delete": state[key] = nil
            default:
                let row = try? JSONSerialization.data(withJSONObject: object["row"] ?? [], options: .sortedKeys)  // as it came
                state[key] = String(decoding: row ?? Data(), as: UTF8.self) + (object["row_b64"] as? String ?? "")
            }
        }
        return state
    }

    @Test func `K27: killed at any moment, a consumer of a view misses nothing, also over a rebuild, and stats tells its lag`()
        throws
    {
        let tool = try Tool()
        try tool.run("init")
        var texts: [String] = []
        for round in 1...6 {
            try tool.run("simulate", "--seed", "\(round)", "--nodes", "20", "--packets", "400")
            if round == 4 { try tool.run("rebuild") }
            let running = try tool.start(["follow", "--consumer", "map", "--view", "positions", "--batch", "20"])
            // Killed after some lines, wherever that is.
            while try Data(contentsOf: running.output).count < round * 700, running.process.isRunning { usleep(2_000) }
            kill(running.process.processIdentifier, SIGKILL)
            running.process.waitUntilExit()
            texts.append(try String(contentsOf: running.output, encoding: .utf8) + "\n")
        }
        let stats = try tool.run("stats", "--format", "json").objects[0]
        #expect(stats["consumer_map_view"] as? String == "positions" && stats.keys.contains("consumer_map_lag"))
        let rest = try tool.run("follow", "--consumer", "map", "--view", "positions", "--no-follow")
        #expect(rest.status == 0, "\(rest.errors)")
        texts.append(rest.output)
        let fresh = try tool.run("follow", "--consumer", "fresh", "--view", "positions", "--no-follow")
        #expect(!state([fresh.output]).isEmpty && state(texts) == state([fresh.output]))
        #expect(try tool.run("follow", "--consumer", "map", "--view", "positions", "--no-follow").output.isEmpty)
        let list = try tool.run("consumers", "--format", "jsonl").objects
        #expect(list.compactMap { $0["name"] as? String } == ["fresh", "map"])
        #expect(list.compactMap { $0["lag"] as? Int } == [0, 0])
        #expect(list.compactMap { $0["view"] as? String } == ["positions", "positions"])
    }

    @Test func `after an erasure it says that it has to begin again, and does when told to`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "500")
        let first = try tool.run("follow", "--consumer", "map", "--view", "nodes", "--no-follow").output
        try tool.run("erase", "--sequence", "1-200", "--yes")
        let refused = try tool.run("follow", "--consumer", "map", "--view", "nodes", "--no-follow")
        #expect(refused.status == 66 && refused.errors.contains("start again with all of its rows"), "\(refused)")
        let again = try tool.run("follow", "--consumer", "map", "--view", "nodes", "--no-follow", "--restart")
        #expect(again.status == 0 && again.lines.first?.contains("reset") == true, "\(again.errors)")
        let fresh = try tool.run("follow", "--consumer", "other", "--view", "nodes", "--no-follow").output
        #expect(state([first, again.output]) == state([fresh]))
        #expect(try tool.run("follow", "--consumer", "map", "--view", "messages", "--no-follow").status == 64)
        #expect(try tool.run("follow", "--consumer", "map", "--no-follow").status == 64)
        #expect(try tool.run("consumers", "remove", "map").status == 0)
        #expect(try tool.run("follow", "--consumer", "map", "--no-follow").status == 0)
    }
}
