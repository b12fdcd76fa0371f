internal import EventLog
internal import MeshLedger
internal import Meshtastic
internal import ProtobufWire
internal import TestKit

/// Puts inputs into ledgers in memory and folds them into all views: what checks each input alone cannot see.
///
/// After each ledger's inputs every view stands at the log's head, what cannot be decoded is in quarantine, every row can be read, and folding all
/// again gives the same rows.
public struct FoldFuzzer {
    /// Inputs in one ledger: few enough for memory, enough for ids to recur and caps to act.
    public static let inputsPerLedger: UInt64 = 200_000

    private let maker: InputMaker
    private let seed: UInt64

    public init(seed: UInt64) throws {
        maker = try InputMaker(seed: seed)
        self.seed = seed
    }

    /// Folds these inputs in one ledger.
    public func run(_ inputs: Range<UInt64>) async throws -> FuzzReport {
        let caps = ViewCaps(
            nodes: 500, positions: 100, telemetry: 100, messages: 1_000, waypoints: 100, traceRoutes: 200, links: 200,
            gateways: 100, gatewayNodes: 500, mapReports: 100, sensors: 50, nodeHistory: 20, radios: 10)
        let ledger = try await Ledger.temporary(options: LedgerOptions(caps: caps))
        var run = FoldRun(ledger: ledger, maker: maker, generator: SeededGenerator(seed: seed ^ inputs.lowerBound))
        do {
            try await run.append(inputs)
            try await run.check()
        } catch {
            run.report.add("the fold of inputs \(inputs) ended: \(error)", at: inputs.lowerBound)
        }
        try await ledger.close()
        return run.report
    }
}

/// One ledger and what is expected of it.
private struct FoldRun {
    let ledger: Ledger
    let maker: InputMaker
    var generator: SeededGenerator
    var report = FuzzReport()
    private var first: UInt64 = 0
    private var sources: [SourceID] = []
    /// Sequences that have to be in quarantine.
    private var undecodable: [UInt64] = []
    private var seen: Set<UInt64> = []

    init(ledger: Ledger, maker: InputMaker, generator: SeededGenerator) {
        self.ledger = ledger
        self.maker = maker
        self.generator = generator
    }

    mutating func append(_ inputs: Range<UInt64>) async throws {
        first = inputs.lowerBound
        for name in ["file:fuzz", "radio", "mqtt://localhost msh/2/json/LongFast/!36072603"] {
            sources.append(try await ledger.log.source(named: name))
        }
        try await ledger.keys.set(maker.keyring)
        let opener = PacketOpener(keyring: maker.keyring, publicKeys: maker.publicKeys)
        var batch = PacketBatch()
        // Heard before all others, so that no mutated announcement replaces the keys that direct messages are opened with.
        let earliest = Reception.recorded(Timestamp(seconds: 1_577_836_800))
        var events = [NewEvent(maker.introduction, encoding: .meshPacket, source: sources[0], reception: earliest)]
        for index in inputs {
            let input = maker.input(index)
            batch.removeAll()
            opener.decode(input.bytes.rawSpan, form: input.form, into: &batch)
            if let packet = batch.packets.first {
                if isUndecodable(packet) { undecodable.append(index - first + 2) }
                report.count(input, hasReached: packet.opening.isReadable && packet.port > 0)
            }
            events.append(
                NewEvent(
                    input.bytes, encoding: PayloadEncoding(input.form), source: sources[Int.random(in: 0..<3, using: &generator)],
                    reception: reception()))
            if events.count >= 5_000 { try await flush(&events) }
        }
        try await flush(&events)
    }

    private func flush(_ events: inout [NewEvent]) async throws {
        if !events.isEmpty { _ = try await ledger.log.append(events) }
        events.removeAll(keepingCapacity: true)
    }

    /// All kinds, and times that no clock shows.
    private mutating func reception() -> Reception {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0...4: .live
        case 5: .unrecorded
        case 6: .recorded(Timestamp(microseconds: Int64(bitPattern: generator.next())))
        case 7: .recorded(Timestamp(seconds: 0))
        case 8: .recorded(Timestamp(seconds: Int64(UInt32.max) + Int64.random(in: -400...400, using: &generator)))
        default: .recorded(Timestamp(seconds: 1_750_000_000 + Int64.random(in: -90_000...90_000, using: &generator)))
        }
    }

    /// No packet at all, or one that was heard for the first time and whose content is damaged. Damaged text is repaired.
    private mutating func isUndecodable(_ packet: DecodedPacket) -> Bool {
        if packet.opening == .invalid { return true }
        guard packet.hasPacket, packet.from != 0, packet.from != NodeID.broadcast else { return false }
        let isNew = packet.id == 0 || seen.insert(UInt64(packet.from) << 32 | UInt64(packet.id)).inserted
        return isNew && packet.failure != nil && packet.port != Port.text && packet.port != Port.alert
            && packet.opening.isReadable
            && packet.failure?.kind == .malformedPayload
    }

    mutating func check() async throws {
        try await ledger.catchUp()
        try await checkPlaces()
        try readAll()
        let names = try await ledger.maintenance.views().map(\.name)
        let digests = try names.map { try ledger.maintenance.digest(of: $0) }
        try await ledger.maintenance.rebuild()
        for (name, digest) in zip(names, digests) where try ledger.maintenance.digest(of: name) != digest {
            report.add("folding again gives another view \(name)", at: first)
        }
    }

    private mutating func checkPlaces() async throws {
        for view in try await ledger.maintenance.views() where view.checkpoint != ledger.log.head.rawValue {
            report.add("the view \(view.name) stands at \(view.checkpoint) of \(ledger.log.head.rawValue)", at: first)
        }
        var listed: Set<UInt64> = []
        var oldest: UInt64 = 0
        for name in try await ledger.maintenance.views().map(\.name) {
            let rows = try ledger.maintenance.quarantine(view: name)
            listed.formUnion(rows.map(\.sequence))
            // A view lists its newest ones only.
            if rows.count >= 10_000 { oldest = max(oldest, rows.map(\.sequence).min() ?? 0) }
        }
        for sequence in undecodable where sequence >= oldest && !listed.contains(sequence) {
            report.add("its damage is in no view's quarantine", at: first + sequence - 2)
        }
    }

    private mutating func readAll() throws {
        var rows = try ledger.nodes().count + ledger.channels().count
        try ledger.forEachPosition(of: nil) { _ in rows += 1 }
        try ledger.forEachTelemetry(of: nil) { row in
            rows += 1
            do throws(WireError) {
                _ = try TelemetryMetrics(decoding: row.metrics.rawSpan, kind: row.kind)
            } catch {
                rows += 1  // refusing is right; only a trap is wrong
            }
        }
        rows += try ledger.messages().count
        rows += try ledger.gateways().count + ledger.gatewayNodes().count + ledger.mapReports().count + ledger.sensors().count
        rows += try ledger.nodeHistory().count + ledger.hardware().count
        for radio in try ledger.radios(isHistory: true) { rows += radio.dissected.fields.count }
        if rows == 0 { report.add("no rows at all", at: first) }
    }
}
