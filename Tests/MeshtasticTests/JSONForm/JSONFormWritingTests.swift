import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct JSONFormWritingTests {
    /// A packet in clear with this payload.
    private func packet(port: UInt32, _ body: (inout WireWriter) -> Void) -> PacketBatch {
        var writer = WireWriter()
        writer.fixed32(1, 0x1234)
        writer.fixed32(2, .max)
        writer.message(4) { data in
            data.varint(1, UInt64(port))
            data.message(2, body)
        }
        writer.fixed32(6, 99)
        writer.fixed32(7, 1_750_000_000)
        writer.float(8, -7.25)
        writer.varint(9, 5)
        writer.int32(12, -90)
        writer.varint(15, 7)
        var batch = PacketBatch()
        PacketOpener(keyring: .standard).decode(writer.bytes.rawSpan, form: .meshPacket, into: &batch)
        return batch
    }

    @Test func `what is written is read as the same packet`() throws {
        let batches: [PacketBatch] = [
            packet(port: 1) { $0.raw(Array("hi \"you\" 🐢\n".utf8)) },
            packet(port: 3) { writer in
                writer.sfixed32(1, 476_186_763)
                writer.sfixed32(2, -138_217_197)
                writer.int32(3, -4)
                writer.varint(23, 32)
            },
            packet(port: 4) { writer in
                writer.string(1, "!00001234")
                writer.string(2, "A long name")
                writer.string(3, "ALN")
                writer.varint(5, 43)
                writer.varint(7, 2)
            },
            packet(port: 8) { writer in
                writer.varint(1, 5)
                writer.sfixed32(2, 7)
                writer.string(6, "Hut")
            },
            packet(port: 10) { $0.raw(Array("door open".utf8)) },
            packet(port: 34) { writer in
                writer.varint(1, 3)
                writer.varint(3, 60)
            },
            packet(port: 67) { writer in
                writer.message(4) { metrics in
                    metrics.varint(1, 5)
                    metrics.varint(13, 400)
                }
            },
            packet(port: 67) { writer in writer.message(5) { $0.float(3, 3.25) } },
            packet(port: 70) { writer in
                writer.packedFixed32(1, [7, 8])
                writer.packedInt32(2, [20, -128, 3])
            },
            packet(port: 71) { writer in
                writer.varint(1, 0x1234)
                writer.message(4) { neighbour in
                    neighbour.varint(1, 77)
                    neighbour.float(2, 4.5)
                }
            },
        ]
        for batch in batches {
            let packet = try #require(batch.packets.first)
            let text = try #require(JSONForm.text(of: packet, in: batch), "port \(packet.port)")
            var again = PacketBatch()
            JSONForm.decode(Array(text.utf8).rawSpan, into: &again)
            let read = try #require(again.packets.first)
            #expect(read.from == packet.from && read.to == packet.to && read.id == packet.id && read.port == packet.port)
            #expect(read.rxTime == packet.rxTime && read.rxSNR == packet.rxSNR && read.rxRSSI == packet.rxRSSI)
            #expect(read.hopStart == packet.hopStart && read.hopLimit == packet.hopLimit)
            #expect(again.payload(of: read).asArray == batch.payload(of: packet).asArray, "\(text)")
        }
    }

    @Test func `ports that firmware leaves out are left out here`() throws {
        for port in [5, 6, 256] as [UInt32] {
            let batch = packet(port: port) { $0.varint(3, 0) }
            #expect(JSONForm.text(of: try #require(batch.packets.first), in: batch) == nil)
        }
    }
}
