public import ArgumentParser
import EventLog
import Foundation
import MeshLedger
public import MeshSimulator
import Meshtastic

extension SimulationFormat: ExpressibleByArgument {}

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Simulate the traffic of a mesh.",
        discussion: """
            The same seed gives the same traffic on every machine; it ends now, and with --start the times are the same as well. Nodes move, \
            measure, chat and acknowledge; several gateways hear the same packet; some of it is damaged. One channel, Harbour, needs its \
            key; the key of another is unknown.

              meshledger simulate --seed 1 --nodes 40 --packets 5000
              meshledger simulate --seed 7 --packets 1000 -o capture.base64 --as envelopes
              meshledger simulate --seed 7 --packets 1000 --start 2026-05-28T20:26:40Z -o -
              meshledger keys add Harbour --psk AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: "The seed of the traffic.") var seed: UInt64 = 1
    @Option(help: "How many nodes to simulate.") var nodes = 200
    @Option(help: "How many receptions to make; a packet may have up to three.") var packets = 10_000
    @Option(help: "How many of the nodes are gateways.") var gateways: Int?
    @Option(help: "Of 1,000 receptions, how many are damaged or odd.") var bad: UInt32 = 10
    @Option(help: "Of 100 packets, how many are encrypted.") var encrypted: UInt32 = 72
    @Option(
        help: ArgumentHelp("When it begins, such as 2026-01-31 or yesterday; by default it ends now.", valueName: "time"),
        transform: TimeArgument.parsed)
    var start: TimeArgument?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write this file instead of the ledger; - is standard output.", valueName: "file"), completion: .file()
    )
    var output: String?
    @Option(name: .customLong("as"), help: "The file's format.") var format = SimulationFormat.envelopes

    /// From 2000 to 2100: within the 32 bits of a packet's times, with room for the traffic after the start.
    private static let starts: Range<Int64> = 946_684_800..<4_102_444_800

    func validate() throws {
        guard (2...100_000).contains(nodes) else { throw ValidationError("there are between 2 and 100,000 nodes") }
        guard packets >= 0 else { throw ValidationError("the number of packets is not negative") }
        guard bad <= 1_000, encrypted <= 100 else { throw ValidationError("bad is at most 1,000, encrypted at most 100") }
        if let gateways, gateways < 1 { throw ValidationError("there is at least one gateway") }
        if let start, !Self.starts.contains(start.time.seconds) {
            throw ValidationError("--start is a time from 2000 to 2099, since the times of packets have 32 bits")
        }
    }

    func run() async throws {
        let simulation = MeshSimulation(simulationOptions())
        if let output {
            try write(simulation, to: output)
        } else {
            try await append(simulation)
        }
    }

    private func simulationOptions() -> SimulationOptions {
        var options = SimulationOptions(
            seed: seed, nodes: nodes, gateways: gateways, badPerMille: bad, encryptedPercent: encrypted)
        if let start {
            options.startTime = UInt32(clamping: start.time.seconds)
        } else {
            // Its length is known only at the end, and does not depend on its start.
            var trial = MeshSimulation(options)
            var end = options.startTime
            for _ in 0..<packets { end = max(end, trial.next().time) }
            options.startTime = UInt32(clamping: Timestamp.now.seconds - Int64(end - options.startTime))
        }
        return options
    }

    private func append(_ start: MeshSimulation) async throws {
        var simulation = start
        try await ledger.writing { ledger in
            let source = try await ledger.source(named: "simulation:seed \(seed)")
            let bar = ProgressBar("simulating")
            var events: [NewEvent] = []
            for number in 1...max(1, packets) where packets > 0 {
                let reception = simulation.next()
                events.append(
                    NewEvent(
                        reception.envelope, encoding: .serviceEnvelope, source: source,
                        reception: .recorded(Timestamp(seconds: Int64(reception.time)))))
                guard events.count == 4_096 || number == packets else { continue }
                _ = try await ledger.append(events)
                events.removeAll(keepingCapacity: true)
                bar.show(fraction: Double(number) / Double(packets), done: UInt64(number), unit: "events")
            }
            bar.end()
            try await ledger.catchUp(title: "folding")
        }
        let truth = simulation.truth
        StandardOutput().line(
            "\(truth.events.counted("event")) of \(truth.packets.counted("packet")) from \(nodes.counted("node")), seed \(seed)")
    }

    private func write(_ start: MeshSimulation, to path: String) throws {
        var simulation = start
        let file = SimulationFile(format)
        let output = try StandardOutput(file: path)
        var bytes: [UInt8] = []
        var records = file.startRecords
        output.write(file.start(simulation))
        for _ in 0..<packets {
            bytes.removeAll(keepingCapacity: true)
            if file.append(simulation.next(), to: &bytes) { records += 1 }
            output.write(bytes)
        }
        output.flush()
        try OutputFiles.keepAll()
        StandardOutput.error("\(records.counted("record")) written to \(path)")
    }
}
