import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// The official Python decoder and ours over the same recorded packets. Where they may differ, `Comparison.excuse` says why.
@Suite(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
struct OracleTests {
    @Test(
        .enabled(if: SharedFolder.exists, "needs ../shared"),
        arguments: ["mqtt-envelopes.base64", "udp-datagrams.jsonl", "packets-2025-09.jsonl"])
    func `each field of recorded traffic is what the official decoder prints`(name: String) throws {
        let url = SharedFolder.file("captures/\(name)")
        let comparison = try Comparison(of: try Oracle.events(in: url), with: try Oracle.decode(url), isDamaged: false)
        #expect(comparison.differences.isEmpty, "\(comparison.differences.prefix(5))")
        if name == "mqtt-envelopes.base64" {
            #expect(comparison.events == 337 && comparison.invalid == 14 && comparison.readable == 323)
        }
        if name == "packets-2025-09.jsonl" { #expect(comparison.events == 15_158 && comparison.excused == 0) }
    }

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"), arguments: [1, 2, 3] as [UInt64])
    func `the same holds for files with lines removed, repeated and corrupted`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        for name in ["mqtt-envelopes.base64", "udp-datagrams.jsonl", "packets-2025-09.jsonl"] {
            var lines: [[UInt8]] = []
            for event in try Oracle.events(in: SharedFolder.file("captures/\(name)")) {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0: continue
                case 1: lines += [event, event]
                case 2...4:
                    var damaged = event
                    PacketSeeds.mutate(&damaged, &generator)
                    lines.append(damaged.isEmpty ? event : damaged)
                default: lines.append(event)
                }
            }
            let url = folder.file(name)
            try Oracle.write(lines, to: url)
            let comparison = try Comparison(of: lines, with: try Oracle.decode(url), isDamaged: true)
            #expect(comparison.differences.isEmpty, "seed \(seed), \(name): \(comparison.differences.prefix(5))")
            #expect(comparison.excused * 10 < comparison.events, "seed \(seed): \(comparison.excused) excused")
        }
    }
}

/// What the official decoder says of a capture.
enum Oracle {
    struct Line: Decodable {
        var error, how: String?
        var from, to, id, channel, rx_time, portnum: UInt32?
        var payload: JSON?
        var payload_hex: String?
    }

    static func generate(_ name: String, seed: UInt64, hostile: Int, in folder: TemporaryFolder) throws -> URL {
        let form = name.hasSuffix(".jsonl") ? "jsonl" : "envelopes"
        return try GeneratedCapture(form, seed: seed, ["packets=250", "hostile=\(hostile)"], in: folder, name: name).url
    }

    /// The bytes of each line of a capture file.
    static func events(in url: URL) throws -> [[UInt8]] {
        struct Raw: Decodable { var raw_b64: String }
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        guard url.pathExtension == "jsonl" else { return lines.map { .init(base64: String($0)) } }
        return try lines.map { .init(base64: try JSONDecoder().decode(Raw.self, from: Data($0.utf8)).raw_b64) }
    }

    static func write(_ events: [[UInt8]], to url: URL) throws {
        let texts = events.map { Data($0).base64EncodedString() }
        let lines = url.pathExtension == "jsonl" ? texts.map { "{\"raw_b64\": \"\($0)\"}" } : texts
        try (lines.joined(separator: "\n") + "\n").write(to: url, atomically: true, encoding: .utf8)
    }

    static func decode(_ url: URL) throws -> [Line] {
        try OraclePython.run("decode.py", [url.path]).split(separator: "\n").map { line in
            try JSONDecoder().decode(Line.self, from: Data(line.utf8))
        }
    }
}
