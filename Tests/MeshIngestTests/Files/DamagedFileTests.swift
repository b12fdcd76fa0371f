import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing

@testable import MeshIngest

struct DamagedFileTests {
    @Test func `a damaged line is kept as unreadable text and told with its number`() async throws {
        let bench = try ImportBench()
        let text = MadeEnvelope.lines(0..<3) + "\n" + "###broken###\n" + MadeEnvelope.lines(3..<6)
        let report = try await bench.run(try bench.write(text, to: "capture"))
        #expect(report.eventCount == 7)
        #expect(report.unreadableCount == 1)
        #expect(report.problems.map(\.number) == [5])
        #expect(report.problems.first?.unit == "line")
        let kept = try #require(try bench.events().first { $0.header.encoding == PayloadEncoding(.unreadable) })
        #expect(kept.payload == Array("###broken###".utf8))
        #expect(kept.sequence.rawValue == 4)
    }

    @Test(arguments: [true, false]) func `a byte order mark costs no line`(_ isJSON: Bool) async throws {
        let bench = try ImportBench()
        let json = (1...3).map {
            #"{"from":1,"id":\#($0),"payload":{"text":"hi"},"timestamp":1780000000,"to":4294967295,"type":"text"}"#
        }
        let text = isJSON ? json.joined(separator: "\n") + "\n" : MadeEnvelope.lines(0..<3)
        let report = try await bench.run(try bench.write("\u{feff}" + text, to: "capture"))
        #expect((report.eventCount, report.unreadableCount) == (3, 0))
    }

    @Test func `lines with raw_b64 say by their first bytes what they hold`() async throws {
        let bench = try ImportBench()
        let envelope = try #require(Data(base64Encoded: MadeEnvelope.line(1).trimmingCharacters(in: .newlines)))
        let packet = envelope.dropFirst(2).prefix(Int(envelope[1]))
        let frame = Data([0x08, 0x05, 0x12, envelope[1]]) + packet
        for (number, bytes) in [envelope, Data(packet), frame].enumerated() {
            let line = #"{"raw_b64":"\#(bytes.base64EncodedString())"}"# + "\n"
            try await bench.run(try bench.write(line, to: "\(number).jsonl"), ImportOptions(format: .jsonLines))
        }
        let forms: [CaptureForm] = [.serviceEnvelope, .meshPacket, .fromRadio]
        #expect(try bench.events().map(\.header.encoding) == forms.map { PayloadEncoding(rawValue: $0.rawValue) })
    }

    @Test func `line numbers go on in a file that has grown`() async throws {
        let bench = try ImportBench()
        try await bench.run(try bench.write(MadeEnvelope.lines(0..<10), to: "capture"))
        try bench.grow("capture", by: MadeEnvelope.line(10) + "%%%%\n")
        #expect(try await bench.run(bench.path("capture")).problems.map(\.number) == [12])
    }

    @Test(arguments: 1..<40) func `a last line that is cut short waits for its rest`(_ cut: Int) async throws {
        let bench = try ImportBench()
        let last = MadeEnvelope.line(5)
        let part = String(last.dropLast(cut))
        try bench.write(MadeEnvelope.lines(0..<5) + part, to: "capture")
        let first = try await bench.run(bench.path("capture"))
        try bench.grow("capture", by: String(last.suffix(cut)))
        let second = try await bench.run(bench.path("capture"))
        if cut > 1 {
            #expect(first.eventCount == 5)
            #expect(first.leftover?.byteCount == part.utf8.count)
            #expect(second.eventCount == 1)
        } else {
            // Only the line feed was missing: the message itself was whole.
            #expect(first.eventCount == 6)
            #expect(second.eventCount == 0)
        }
        #expect(try bench.events().count == 6)
        #expect(try bench.events().allSatisfy { $0.header.encoding == PayloadEncoding(.serviceEnvelope) })
    }

    @Test func `a last line that is cut short is kept as unreadable when the file is complete`() async throws {
        let bench = try ImportBench()
        try bench.write(MadeEnvelope.lines(0..<5) + "CgsNAAA", to: "capture")
        let report = try await bench.run(bench.path("capture"), ImportOptions(isComplete: true))
        #expect(report.eventCount == 6)
        #expect(report.unreadableCount == 1)
        #expect(report.leftover == nil)
        #expect(try bench.events().last?.payload == Array("CgsNAAA".utf8))
    }

    @Test func `lines without an end are kept in pieces`() async throws {
        let bench = try ImportBench()
        let long = String(repeating: "x", count: 3_000_000)
        let report = try await bench.run(
            try bench.write(
                MadeEnvelope.lines(0..<600) + long + "\n" + MadeEnvelope.lines(600..<610) + "damaged!\n", to: "capture"))
        #expect(report.unreadableCount == 2)
        #expect(report.problems.map(\.number) == [601, 612])
        let events = try bench.events()
        #expect(report.eventCount == events.count)
        let text = events.filter { $0.header.encoding == PayloadEncoding(.unreadable) }.map(\.payload.count).reduce(0, +)
        #expect(text == 3_000_000 + "damaged!".utf8.count)
        #expect(events.count { $0.header.encoding == PayloadEncoding(.serviceEnvelope) } == 610)
    }

    @Test func `of a line of MQTT JSON, its topic tells what the payload is`() async throws {
        let bench = try ImportBench()
        let envelope = MadeEnvelope.line(1).dropLast()
        let lines = [
            #"{"topic":"msh/2/json/LongFast/!00000001","payload":"{\"from\":1}","rx_time":1700000000}"#,
            #"{"topic":"msh/2/json/LongFast/!00000001","payload":{"from":1}}"#, #"{"from":1,"sender":"!00000001"}"#,
            #"{"topic":"msh/2/e/LongFast/!00000001","payload":"\#(envelope)"}"#,
            #"{"topic":"msh/2/e/LongFast/!00000001","payload":"not base64"}"#,
        ]
        let report = try await bench.run(try bench.write(lines.map { $0 + "\n" }.joined(), to: "messages"))
        #expect(report.format == .mqttJSON)
        #expect(report.problems.map(\.number) == [5])
        let events = try bench.events()
        #expect(
            events.map(\.header.encoding)
                == [.mqttJSON, .mqttJSON, .mqttJSON, .serviceEnvelope, .unreadable].map { PayloadEncoding($0) })
        #expect(events[0].payload == Array(#"{"from":1}"#.utf8))
        #expect(events[1].payload == Array(#"{"from":1}"#.utf8))
        #expect(events[0].header.reception == .recorded(Timestamp(seconds: 1_700_000_000)))
    }

    @Test func `windows line ends and blank lines are nothing`() async throws {
        let bench = try ImportBench()
        let text = "\r\n" + MadeEnvelope.lines(0..<4).replacingOccurrences(of: "\n", with: "\r\n") + "\n \n"
        let report = try await bench.run(try bench.write(text, to: "capture"))
        #expect(report.eventCount == 4)
        #expect(report.unreadableCount == 0)
    }

    @Test func `envelopes behind lengths go on after a damaged length`() async throws {
        let bench = try ImportBench()
        let frames = (0..<30).map { number -> [UInt8] in
            let bytes = MadeEnvelope.bytes(from: 7, id: UInt32(number))
            return MadeEnvelope.little(UInt32(bytes.count)) + bytes
        }
        var bytes = frames.flatMap { $0 }
        let place = frames.prefix(10).map(\.count).reduce(0, +)
        bytes[place + 3] = 0x7f
        let report = try await bench.run(try bench.write(bytes, to: "frames"))
        #expect(report.format == .lengthPrefixed)
        #expect(report.eventCount == 30)
        #expect(report.unreadableCount == 1)
        let kept = try #require(try bench.events().first { $0.header.encoding == PayloadEncoding(.unreadable) })
        #expect(kept.payload.count == frames[10].count)
    }

    @Test func `a frame that is cut short waits for its rest`() async throws {
        let bench = try ImportBench()
        let frame = { (number: Int) -> [UInt8] in
            let bytes = MadeEnvelope.bytes(from: 7, id: UInt32(number))
            return MadeEnvelope.little(UInt32(bytes.count)) + bytes
        }
        let whole = (0..<20).flatMap(frame)
        try bench.write(whole.dropLast(5), to: "frames")
        let first = try await bench.run(bench.path("frames"))
        #expect(first.eventCount == 19)
        #expect(first.leftover != nil)
        try bench.write(whole, to: "frames")
        #expect(try await bench.run(bench.path("frames")).eventCount == 1)
    }

    @Test func `console text of a serial port is counted, and the frames around it are events`() async throws {
        let bench = try ImportBench()
        let frame: [UInt8] = [0x94, 0xc3, 0x00, 0x02, 0x40, 0x01]
        let console = Array("INFO  | 10:11:12 boot\r\n".utf8)
        let bytes = (0..<50).flatMap { _ in console + frame + frame }
        let report = try await bench.run(try bench.write(bytes, to: "serial.bin"))
        #expect(report.format == .stream)
        #expect(report.eventCount == 100)
        #expect(report.skippedBytes == 50 * console.count)
    }

    @Test func `any bytes at all become events or an error, never a crash`() async throws {
        var generator = SeededGenerator(seed: 46)
        for round in 0..<60 {
            let bench = try ImportBench()
            let bytes = generator.bytes(Int.random(in: 0...5_000, using: &generator))
            let path = try bench.write(bytes, to: "noise")
            let format = ImportFormat.allCases[round % ImportFormat.allCases.count]
            let options = ImportOptions(format: round < 20 ? nil : format, isComplete: round % 2 == 0)
            if await bench.failure(path, options) == nil {
                let again = await bench.failure(path, options)
                #expect(again == nil)
            }
        }
    }
}
