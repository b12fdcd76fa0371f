import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing

@testable import MeshIngest

/// Captures in every form, made up by a script with the official package's encoder, go in as they are.
@Suite(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
struct GeneratedCaptures {
    struct Sample: Sendable, CustomTestStringConvertible {
        var form: String
        var format: ImportFormat
        var encoding: CaptureForm

        var testDescription: String { form }
    }

    private static let samples = [
        Sample(form: "envelopes", format: .envelopes, encoding: .serviceEnvelope),
        Sample(form: "jsonl", format: .jsonLines, encoding: .meshPacket),
        Sample(form: "stream", format: .stream, encoding: .fromRadio),
        Sample(form: "length-prefixed", format: .lengthPrefixed, encoding: .serviceEnvelope),
        Sample(form: "mqtt-json", format: .mqttJSON, encoding: .mqttJSON),
    ]

    /// The records of a file, found without the importer.
    private func records(of form: String, in file: URL) throws -> [[UInt8]] {
        struct Line: Decodable { var raw_b64: String }
        let bytes = [UInt8](try Data(contentsOf: file))
        let lines = bytes.split(separator: 0x0a).map { Array($0) }
        switch form {
        case "envelopes": return lines.map { Data(base64Encoded: Data($0)).map { Array($0) } ?? [] }
        case "jsonl":
            return try lines.map {
                Data(base64Encoded: try JSONDecoder().decode(Line.self, from: Data($0)).raw_b64).map { Array($0) } ?? []
            }
        case "mqtt-json": return lines
        default:
            var (place, found): (Int, [[UInt8]]) = (0, [])
            while place + 4 <= bytes.count {
                let isStream = form == "stream"
                let count =
                    isStream
                    ? Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
                    : (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
                found.append(Array(bytes[place + 4..<place + 4 + count]))
                place += 4 + count
            }
            return found
        }
    }

    @Test(arguments: samples) func `a form is found out, and each record becomes an event, byte for byte`(sample: Sample)
        async throws
    {
        let bench = try ImportBench()
        let capture = try GeneratedCapture(sample.form, seed: 81, in: bench.folder)
        let report = try await bench.run(capture.url.path)
        let records = try records(of: sample.form, in: capture.url)
        #expect(report.format == sample.format && report.skippedBytes == 0)
        #expect(report.eventCount == records.count && records.count > 50)
        let events = try bench.events()
        let encoding = PayloadEncoding(sample.encoding)
        // What is no JSON any more is kept as unreadable. Of a radio's frames the secrets are zeroed at equal length.
        if sample.form == "stream" {
            #expect(events.map(\.payload.count) == records.map(\.count))
            #expect(zip(events, records).allSatisfy { $0.header.isMasked || $0.payload == $1 })
            #expect(events.contains { $0.header.isMasked })
        } else {
            #expect(events.map(\.payload) == records)
        }
        #expect(events.count { $0.header.encoding == encoding } > records.count * 9 / 10)
        #expect(try await bench.run(capture.url.path).eventCount == 0)
    }

    @Test func `the time that a line records is kept, and the arrival is ours`() async throws {
        let bench = try ImportBench()
        let capture = try GeneratedCapture("jsonl", seed: 82, in: bench.folder)
        try await bench.run(capture.url.path)
        let events = try bench.events()
        for (line, event) in zip(try capture.lines(), events) {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let recorded = (object["rx_time"] as? Int).map { Reception.recorded(Timestamp(seconds: Int64($0))) }
            #expect(event.header.reception == recorded ?? .unrecorded)
            #expect(event.header.arrivalTime.seconds > 1_760_000_000)
        }
        #expect(Set(events.map { $0.header.reception == .unrecorded }) == [true, false])
    }

    @Test func `an import into a ledger ends with its views at the head`() async throws {
        let ledger = try await Ledger.temporary()
        let folder = try TemporaryFolder()
        let capture = try GeneratedCapture("envelopes", seed: 83, in: folder)
        let report = try await FileImport(capture.url.path, into: IngestTarget(ledger)).run()
        #expect(report.eventCount == (try capture.lines().count))
        #expect(try await ledger.maintenance.views().allSatisfy { Int($0.checkpoint) == report.eventCount })
        #expect(try ledger.maintenance.quarantine(view: "nodes").count > 0 && !ledger.nodes().isEmpty)
        try await ledger.close()
    }

    @Test(arguments: 1...5) func `a mesh of few nodes has traffic, too, and the private keys of its third and fourth`(
        nodes: Int
    ) throws {
        let folder = try TemporaryFolder()
        let capture = try GeneratedCapture("envelopes", seed: 84, ["nodes=\(nodes)", "packets=40"], in: folder)
        #expect(try capture.lines().count >= 40)
        #expect(capture.keys.count { $0 == "--private-key" } == min(max(nodes - 2, 0), 2))
    }

    @Test func `a mesh without a node is refused`() throws {
        let folder = try TemporaryFolder()
        let failure = #expect(throws: ProgramFailure.self) { try GeneratedCapture("envelopes", ["nodes=0"], in: folder) }
        #expect(failure?.text.contains("at least one node") == true)
    }
}
