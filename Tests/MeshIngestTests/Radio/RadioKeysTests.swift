import Meshtastic
import ProtobufWire
import Testing

@testable import MeshIngest

struct RadioKeysTests {
    private static let key = [UInt8](1...32)

    private func channel(_ index: Int32, _ name: String, _ psk: [UInt8], role: UInt32) -> [UInt8] {
        var frame = ChannelFrame()
        frame.index = index
        frame.name = name
        frame.psk = psk
        frame.role = role
        var writer = WireWriter()
        writer.message(10) { frame.encode(to: &$0) }
        return writer.bytes
    }

    /// FromRadio.config (5) with a LoRaConfig (6) that uses a preset (1) and names it (2).
    private func preset(_ number: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.message(5) { config in
            config.message(6) { lora in
                lora.bool(1, true)
                lora.varint(2, number)
            }
        }
        return writer.bytes
    }

    private func stream(_ frames: [[UInt8]]) -> [UInt8] {
        frames.flatMap { [0x94, 0xc3, UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
    }

    private func keys(announcedBy frames: [[UInt8]]) async throws -> [ChannelKey] {
        let bench = try ImportBench()
        let report = try await bench.run(try bench.write(stream(frames), to: "radio.bin"))
        #expect(try bench.events().count == frames.count)
        return report.radioKeys.channels
    }

    @Test func `the keys that a radio tells are in the report, though not in the events`() async throws {
        let found = try await keys(announcedBy: [
            channel(0, "", [1], role: 1), channel(1, "Harbour", Self.key, role: 2), channel(2, "Shared", [], role: 2),
            channel(3, "Off", Self.key, role: 0), preset(4),
        ])
        #expect(found.map(\.name) == ["MediumFast", "Harbour", "Shared"])
        #expect(found.map(\.psk) == [[1], Self.key, [1]])
    }

    @Test func `a masked key does not count, and one that is announced twice counts once`() async throws {
        let harbour = channel(1, "Harbour", Self.key, role: 2)
        let masked = channel(1, "Harbour", [UInt8](repeating: 0, count: 32), role: 2)
        #expect(try await keys(announcedBy: [masked, harbour, harbour]).map(\.psk) == [Self.key])
        #expect(try await keys(announcedBy: [masked]).isEmpty)
    }

    @Test func `a file that was imported before tells its keys again`() async throws {
        let bench = try ImportBench()
        let path = try bench.write(stream([channel(1, "Harbour", Self.key, role: 2)]), to: "radio.bin")
        try await bench.run(path)
        let again = try await bench.run(path)
        #expect(again.radioKeys.channels.isEmpty && again.eventCount == 0)
        #expect(try await FileImport(path, into: bench.target).radioKeys().channels.map(\.name) == ["Harbour"])
    }
}
