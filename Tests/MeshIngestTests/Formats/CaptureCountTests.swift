import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing

@testable import MeshIngest

@Suite(.enabled(if: SharedFolder.exists, "needs ../shared"))
struct CaptureCountTests {
    @Test(arguments: [
        ("mqtt-envelopes.base64", ImportFormat.envelopes, 337), ("packets-2025-09.jsonl", .jsonLines, 15_158),
        ("udp-datagrams.jsonl", .jsonLines, 32), ("single-packets.jsonl", .jsonLines, 53), ("json-messages.jsonl", .mqttJSON, 13),
    ])
    func `each line of a capture becomes one event, its format found out`(_ name: String, _ format: ImportFormat, _ count: Int)
        async throws
    {
        let bench = try ImportBench()
        let report = try await bench.run(SharedFolder.file("captures/" + name).path)
        #expect(report.format == format)
        #expect(report.eventCount == count)
        #expect(report.unreadableCount == 0)
        #expect(bench.log.head.rawValue == UInt64(count))
    }

    @Test func `a recorded stream has an event for each frame, 2,936 of them packets`() async throws {
        let bench = try ImportBench()
        let report = try await bench.run(SharedFolder.file("captures/tcp-stream.bin").path)
        #expect(report.format == .stream)
        #expect(report.skippedBytes == 0)
        let events = try bench.events()
        // A FromRadio whose second field is a packet begins with its id or with the packet.
        let packets = events.count { event in Self.fields(event.payload).contains(2) }
        #expect(packets == 2_936)
        #expect(events.allSatisfy { $0.header.encoding == PayloadEncoding(.fromRadio) && $0.header.reception == .unrecorded })
    }

    @Test func `envelopes are stored byte for byte`() async throws {
        let bench = try ImportBench()
        let file = SharedFolder.file("captures/mqtt-envelopes.base64")
        try await bench.run(file.path)
        let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        let expected = lines.map { Data(base64Encoded: String($0)).map { [UInt8]($0) } }
        #expect(try bench.events().map(\.payload) == expected)
    }

    @Test func `the recorded reception time is kept, and the arrival is ours`() async throws {
        let bench = try ImportBench()
        try await bench.run(SharedFolder.file("captures/packets-2025-09.jsonl").path)
        let first = try #require(try bench.events().first)
        #expect(first.header.reception == .recorded(Timestamp(seconds: 1_757_937_579)))
        #expect(first.header.arrivalTime.seconds > 1_760_000_000)
    }

    @Test func `a JSON message keeps its topic in the name of its source, and its bytes as published`() async throws {
        let bench = try ImportBench()
        let file = SharedFolder.file("captures/json-messages.jsonl")
        try await bench.run(file.path)
        let names = try bench.events().map { try bench.log.name(of: $0.header.source) }
        let topics = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["topic"] as? String ?? ""
        }
        #expect(!names.isEmpty && names == topics.map { "file:json-messages.jsonl/" + $0 })
        #expect(try bench.events().allSatisfy { $0.payload.first == UInt8(ascii: "{") })
    }

    @Test func `lines are kept, whatever happens to some of them`() async throws {
        var generator = SeededGenerator(seed: 45)
        let bench = try ImportBench()
        let text = try String(contentsOf: SharedFolder.file("captures/mqtt-envelopes.base64"), encoding: .utf8)
        var lines = text.split(whereSeparator: \.isNewline).map { Array($0.utf8) }
        for index in lines.indices where Int.random(in: 0..<10, using: &generator) == 0 {
            let place = Int.random(in: 0..<lines[index].count, using: &generator)
            lines[index][place] = UInt8(ascii: "?")
        }
        lines = lines.filter { _ in Int.random(in: 0..<10, using: &generator) > 0 }
        lines.append(contentsOf: lines.prefix(20))
        let damaged = lines.count { $0.contains(UInt8(ascii: "?")) }
        let path = try bench.write(lines.flatMap { $0 + [0x0a] }, to: "damaged.base64")
        let report = try await bench.run(path)
        #expect(report.eventCount == lines.count)
        #expect(report.unreadableCount == damaged)
    }

    private static func fields(_ payload: [UInt8]) -> [Int] {
        var fields: [Int] = []
        var index = 0
        func varint() -> Int {
            var (value, shift) = (0, 0)
            while index < payload.count {
                let byte = payload[index]
                index += 1
                value |= Int(byte & 0x7f) << shift
                shift += 7
                if byte < 0x80 { break }
            }
            return value
        }
        while index < payload.count {
            let tag = varint()
            fields.append(tag >> 3)
            switch tag & 7 {
            case 0: _ = varint()
            case 1: index += 8
            case 2: index += varint()
            default: index += 4
            }
        }
        return fields
    }
}
