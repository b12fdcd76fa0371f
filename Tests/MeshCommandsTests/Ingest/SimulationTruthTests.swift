import Foundation
import MeshSimulator
import TestKit
import Testing

/// What the simulator knows of its traffic, against what the commands print of it: not one row more or less.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct SimulationTruthTests {
    private static let psk = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private static let kinds = [
        "device", "environment", "airQuality", "power", "localStats", "health", "host", "trafficManagement",
    ]
    private static let packets = 6_000

    @Test(arguments: SimulationFormat.allCases, [0, 10, 250] as [UInt32])
    func `the views of an imported simulation hold exactly what was simulated`(format: SimulationFormat, bad: UInt32) throws {
        var mesh = MeshSimulation(SimulationOptions(seed: 21, nodes: 60, badPerMille: bad))
        let file = SimulationFile(format)
        var truth = SimulationTruth()
        var bytes: [UInt8] = []
        for _ in 0..<Self.packets {
            let reception = mesh.next()
            if file.append(reception, to: &bytes) { truth.count(reception.fact, in: format) }
        }
        let tool = try Tool()
        let path = tool.folder.file("capture").path
        try tool.run("init")
        try tool.run("keys", "add", "Harbour", "--psk", Self.psk)
        let options = ["--seed", "21", "--nodes", "60", "--bad", "\(bad)", "--packets", "\(Self.packets)"]
        let made = try tool.start(["simulate", "--to", path, "--as", format.rawValue] + options).wait()
        #expect(made.status == 0)
        #expect(try tool.run("import", path).output.contains("(\(format.rawValue))"))
        try compare(tool, truth, moreEvents: file.startRecords)
        #expect(truth.telemetry.count == (format == .mqttJSON ? 4 : 8))
    }

    @Test func `and so do those of traffic that was simulated into the ledger`() throws {
        var mesh = MeshSimulation(SimulationOptions(seed: 22, nodes: 80, badPerMille: 100))
        for _ in 0..<Self.packets { _ = mesh.next() }
        let tool = try Tool()
        try tool.run("init")
        let options = ["--seed", "22", "--nodes", "80", "--bad", "100", "--packets", "\(Self.packets)"]
        #expect(try tool.start(["simulate"] + options).wait().status == 0)
        try tool.run("keys", "add", "Harbour", "--psk", Self.psk)
        try compare(tool, mesh.truth, moreEvents: 0)
    }

    private func compare(_ tool: Tool, _ truth: SimulationTruth, moreEvents: Int) throws {
        func rows(_ view: String) throws -> [[String: Any]] { try tool.run("export", view, "--format", "jsonl").objects }
        func sum(_ rows: [[String: Any]], _ name: String) -> Int { rows.reduce(0) { $0 + ($1[name] as? Int ?? 0) } }
        let stats = try tool.run("stats", "--format", "json").objects.first
        #expect(stats?["events"] as? Int == truth.events + moreEvents)
        let nodes = try rows("nodes")
        #expect(Set(nodes.compactMap { $0["number"] as? Int }) == Set(truth.nodes.map(Int.init)))
        #expect(sum(nodes, "receptions") == truth.receptions)
        #expect(sum(nodes, "packets") == truth.packets)
        #expect(sum(nodes, "unreadable") == truth.unreadablePackets)
        #expect(try rows("positions").count == truth.positions)
        let telemetry = Dictionary(grouping: try rows("telemetry")) { row in
            UInt32((Self.kinds.firstIndex { $0 == row["kind"] as? String } ?? -3) + 2)
        }
        #expect(telemetry.mapValues(\.count) == truth.telemetry)
        let messages = try rows("messages")
        let broadcast = messages.filter { $0["to"] as? String == "^all" }
        #expect(Dictionary(grouping: broadcast) { $0["channel"] as? String ?? "" }.mapValues(\.count) == truth.messages)
        #expect(messages.count - broadcast.count == truth.directMessages)
        // A payload that cannot be used is listed again for the reception of its packet that is the first with a known time.
        let packets = try Dictionary(
            uniqueKeysWithValues: tool.run("events", "--format", "jsonl").objects.map { event in
                let sequence = event["sequence"] as? Int ?? 0
                guard let id = event["packet_id"] as? Int else { return (sequence, "\(sequence)") }
                return (sequence, "\(event["from"] ?? "") \(id)")
            })
        let quarantined = Set(
            try tool.run("quarantine", "--format", "jsonl").objects.map { packets[$0["sequence"] as? Int ?? 0] ?? "" })
        #expect(quarantined.count == truth.quarantined)
        let channels = try tool.run("channels", "--format", "jsonl").objects.filter { $0["readable"] as? Bool == true }
        let heard = Dictionary(grouping: channels) { $0["channel"] as? String ?? "" }.mapValues { sum($0, "receptions") }
        #expect(heard == truth.readableReceptions)
    }
}
