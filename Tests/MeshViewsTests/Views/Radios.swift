import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import Testing

struct Radios {
    private static let start: UInt32 = 1_780_000_000

    private func ledger(_ frames: [(source: String, bytes: [UInt8])], options: LedgerOptions = LedgerOptions()) async throws
        -> Ledger
    {
        let ledger = try await Ledger.temporary(options: options)
        for (index, frame) in frames.enumerated() {
            let source = try await ledger.log.source(named: frame.source)
            try await ledger.log.append([RadioFrame.event(frame.bytes, source, at: Self.start + UInt32(index))])
        }
        try await ledger.catchUp()
        return ledger
    }

    @Test func `X7: what each radio reported of itself is kept by source, whenever it was another than before`() async throws {
        let psk = [UInt8](repeating: 0, count: 16)
        let ledger = try await ledger([
            ("a", RadioFrame.myInfo(1_001, target: "tbeam")), ("a", RadioFrame.config(6, 7, 3)),
            ("a", RadioFrame.channel(1, "Harbour", psk: psk)),
            ("b", RadioFrame.myInfo(1_002)), ("b", RadioFrame.config(6, 7, 3)), ("a", RadioFrame.config(6, 7, 3)),
            ("a", RadioFrame.config(6, 7, 1)),
            ("a", RadioFrame.config(1, 1, 2)), ("a", RadioFrame.channel(1, "Port", psk: psk)),
            ("b", RadioFrame.metadata("2.7.8", hardware: 43)),
        ])
        let all = try ledger.radios(isHistory: true, RowQuery(newestFirst: false))
        #expect(all.map(\.sequence) == [1, 2, 3, 4, 5, 7, 8, 9, 10])
        let titles = [
            "myInfo", "config.lora", "channel.1", "myInfo", "config.lora", "config.lora", "config.device", "channel.1",
            "metadata",
        ]
        #expect(all.map(\.title) == titles)
        #expect(all.map(\.node) == [1_001, 1_001, 1_001, 1_002, 1_002, 1_001, 1_001, 1_001, 1_002])
        let newest = try ledger.radios(source: all[0].source)
        #expect(newest.map(\.title) == ["channel.1", "config.device", "config.lora", "myInfo"])
        #expect(newest[2].dissected.field(named: "lora").map { "\($0.value)".contains("US") } == true)
        #expect(try ledger.radios(part: .channel, isHistory: true).count == 2)
        #expect(try ledger.radios(part: .channel).count == 1)
        try await ledger.close()
    }

    @Test func `secrets are zeroes in the view, also where the log has kept them`() async throws {
        let secret = [UInt8](repeating: 0x5a, count: 16)
        let ledger = try await ledger([
            ("a", RadioFrame.channel(0, "Harbour", psk: secret)), ("a", RadioFrame.channel(0, "Harbour", psk: secret)),
        ])
        let row = try #require(try ledger.radios(isHistory: true).first)
        #expect(try ChannelFrame(decoding: row.content.rawSpan).psk == [UInt8](repeating: 0, count: 16))
        #expect(try ledger.radios(isHistory: true).count == 1)
        try await ledger.close()
    }

    @Test func `a radio keeps its newest settings, and frames that are no message give none`() async throws {
        let frames = (1...6).map { ("a", RadioFrame.config(6, 7, UInt64($0))) } + [("a", [0x2a, 0x02, 0x32, 0x05] as [UInt8])]
        let ledger = try await ledger(frames, options: LedgerOptions(caps: ViewCaps(radios: 4)))
        #expect(try ledger.radios(isHistory: true).map(\.sequence) == [6, 5, 4, 3])
        try await ledger.close()
    }

    @Test("what a client of a shared radio sends is on the radio's channel of that index", arguments: [false, true])
    func clientsOfSharedRadios(isFoldedBefore: Bool) async throws {
        func text(_ id: UInt32, on index: UInt64) -> [UInt8] {
            var writer = WireWriter()
            writer.fixed32(1, 1_001)
            writer.fixed32(2, NodeID.broadcast)
            writer.varint(3, index)
            writer.message(4) { data in
                data.varint(1, UInt64(Port.text))
                data.string(2, "ahoy \(id)")
            }
            writer.fixed32(6, id)
            return writer.bytes
        }
        let ledger = try await Ledger.temporary()
        let psk = [UInt8](repeating: 0, count: 16)
        func append(_ bytes: [UInt8], _ form: CaptureForm, _ name: String) async throws {
            let source = try await ledger.log.source(named: name)
            _ = try await ledger.log.append([NewEvent(bytes, encoding: PayloadEncoding(rawValue: form.rawValue), source: source)])
        }
        try await append(text(1, on: 0), .meshPacket, "tcp:a/client 10.0.0.5")
        if isFoldedBefore { try await ledger.catchUp() }
        try await append(RadioFrame.channel(0, "Harbour", psk: psk), .fromRadio, "tcp:a")
        try await append(RadioFrame.channel(0, "Other", psk: psk), .fromRadio, "tcp:b")
        try await ledger.catchUp()
        try await append(text(2, on: 0), .meshPacket, "tcp:a/client 10.0.0.5")
        if isFoldedBefore { try await ledger.catchUp() }
        try await append(text(3, on: 1), .meshPacket, "tcp:a/client 10.0.0.5")
        try await append(text(4, on: 0), .meshPacket, "tcp:a/client fe80::1/64")
        try await append(text(5, on: 0), .meshPacket, "tcp:b/client 10.0.0.5")
        try await append(text(6, on: 0), .meshPacket, "tcp:c/client 10.0.0.5")
        try await append(text(7, on: 0), .meshPacket, "tcp:a")
        try await ledger.catchUp()
        let channels = ["index 0", "Harbour", "index 1", "Harbour", "Other", "index 0", "Harbour"]
        #expect(try ledger.messages(RowQuery(newestFirst: false)).map(\.channel) == channels)
        try await ledger.maintenance.rebuild()
        #expect(try ledger.messages(RowQuery(newestFirst: false)).map(\.channel) == channels)
        try await ledger.close()
    }
}
