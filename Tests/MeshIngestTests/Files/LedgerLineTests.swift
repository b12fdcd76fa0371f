import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshIngest

struct LedgerLineTests {
    /// The lines of all events of a log.
    private static func export(_ log: EventLog) throws -> [UInt8] {
        var text: [UInt8] = []
        for event in try log.allEvents() {
            LedgerLine.append(
                event.header, source: try log.name(of: event.header.source) ?? "", payload: event.payload.rawSpan, to: &text)
        }
        return text
    }

    @Test func `an export imported into an empty ledger has the same payloads, encodings, sources and reception times`()
        async throws
    {
        let origin = try ImportBench()
        let source = try await origin.log.source(named: "mqtt://broker:1883/msh/\"odd\" \u{1}/ünï")
        let other = try await origin.log.source(named: "file:x")
        _ = try await origin.log.append([
            NewEvent([1, 2, 3], encoding: PayloadEncoding(.serviceEnvelope), source: source, reception: .live),
            NewEvent([], encoding: PayloadEncoding(.meshPacket), source: other, reception: .unrecorded),
            NewEvent(
                [0xff], encoding: PayloadEncoding(.fromRadio), source: other, reception: .recorded(Timestamp(microseconds: 7)),
                isMasked: true),
            NewEvent(Array("junk".utf8), encoding: PayloadEncoding(.unreadable), source: other, reception: .unrecorded),
            NewEvent(
                [9], encoding: PayloadEncoding(rawValue: 99), source: other, reception: .recorded(Timestamp(microseconds: -1))),
        ])
        let copy = try ImportBench()
        let report = try await copy.run(try copy.write(try Self.export(origin.log), to: "export.jsonl"))
        #expect(report.format == .ledgerLines)
        #expect(report.unreadableCount == 0)
        let (before, after) = (try origin.events(), try copy.events())
        #expect(after.map(\.payload) == before.map(\.payload))
        #expect(after.map(\.header.encoding) == before.map(\.header.encoding))
        #expect(after.map(\.header.isMasked) == before.map(\.header.isMasked))
        #expect(after.map(\.header.receptionTime) == before.map(\.header.receptionTime))
        #expect(
            try after.map { try copy.log.name(of: $0.header.source) } == before.map { try origin.log.name(of: $0.header.source) })
    }

    @Test(arguments: ["null", "1234", "0", #""true""#, "[1]"])
    func `only true says that an event was erased or masked: no payload is lost and no secret kept`(_ value: String) async throws
    {
        let bench = try ImportBench()
        let key = [UInt8](repeating: 0xa7, count: 32)
        // FromRadio.channel (10) with settings (2) that have a key (2).
        let frame = Data([0x52, 36, 0x12, 34, 0x12, 32] + key).base64EncodedString()
        let lines = [
            #"{"sequence":1,"source":"x","encoding":"ServiceEnvelope","masked":false,"erased":false,"payload_b64":"CgA="}"#,
            #"{"sequence":2,"source":"x","encoding":"ServiceEnvelope","erased":\#(value),"payload_b64":"CgA="}"#,
            #"{"sequence":3,"source":"x","encoding":"FromRadio","masked":\#(value),"payload_b64":"\#(frame)"}"#,
        ]
        let report = try await bench.run(try bench.write(lines.joined(separator: "\n") + "\n", to: "export"))
        let events = try bench.events()
        try #require(report.format == .ledgerLines && events.count == 3, "\(report)")
        #expect(events[0].payload == [0x0a, 0] && events[0].header.encoding == PayloadEncoding(.serviceEnvelope))
        #expect(events[1].payload == Array(lines[1].utf8) && events[1].header.encoding == PayloadEncoding(.unreadable))
        #expect(report.problems.first?.reason.contains("erased is neither true nor false") == true, "\(report)")
        #expect(events[2].header.isMasked && events[2].header.encoding == PayloadEncoding(.fromRadio))
        #expect(!events[2].payload.contains(0xa7))
    }

    @Test func `times may be microseconds`() async throws {
        let bench = try ImportBench()
        let text =
            #"{"sequence":1,"arrival":1767225600000001,"reception":"live","source":"s","encoding":16,"payload_b64":"CgA="}"#
            + "\n"
        try await bench.run(try bench.write(text, to: "export"))
        #expect(try bench.events().first?.header.reception == .recorded(Timestamp(microseconds: 1_767_225_600_000_001)))
    }
}
