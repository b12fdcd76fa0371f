import EventLog
import Foundation
import Meshtastic
import TestKit
import Testing

@testable import MeshIngest

struct MaskedImportTests {
    /// FromRadio.channel (10) with settings (2) that have a key (2) and a name (3).
    private static func channelFrame(_ key: [UInt8]) -> [UInt8] {
        let settings: [UInt8] = [0x12, UInt8(key.count)] + key + [0x1a, 4] + Array("Home".utf8)
        let channel: [UInt8] = [0x08, 1, 0x12, UInt8(settings.count)] + settings + [0x18, 2]
        return [0x52, UInt8(channel.count)] + channel
    }

    @Test func `a channel's key in a recorded stream is zeroed before it is stored`() async throws {
        let bench = try ImportBench()
        let key = [UInt8](repeating: 0xa7, count: 32)
        let frame = Self.channelFrame(key)
        let header: [UInt8] = [0x94, 0xc3, 0, UInt8(frame.count)]
        let plain: [UInt8] = [0x94, 0xc3, 0, 2, 0x38, 1]
        try await bench.run(try bench.write(header + frame + plain, to: "stream.bin"))
        let events = try bench.events()
        #expect(events.map(\.payload) == [Self.channelFrame([UInt8](repeating: 0, count: 32)), [0x38, 1]])
        #expect(events.map(\.header.isMasked) == [true, false])
    }

    @Test func `and so it is in JSON lines and in exports of others`() async throws {
        let bench = try ImportBench()
        let frame = Data(Self.channelFrame([UInt8](repeating: 0xa7, count: 16))).base64EncodedString()
        try await bench.run(try bench.write("{\"kind\":\"FromRadio\",\"raw_b64\":\"\(frame)\"}\n", to: "frames.jsonl"))
        try await bench.run(
            try bench.write(
                "{\"sequence\":1,\"source\":\"x\",\"encoding\":\"FromRadio\",\"payload_b64\":\"\(frame)\"}\n", to: "export.jsonl")
        )
        let events = try bench.events()
        #expect(events.count == 2)
        #expect(events.allSatisfy { $0.header.isMasked && !$0.payload.contains(0xa7) })
    }
}
