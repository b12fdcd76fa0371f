import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct SignatureFormTests {
    private func packet(_ sample: Firmware281.Signed, _ signature: String) -> [UInt8] {
        var message = Sample()
        (message.from, message.to, message.id) = (sample.from, sample.to, sample.id)
        return message.packet { writer in
            writer.message(4) { data in
                data.uint32(1, sample.portnum)
                data.bytes(2, .init(hex: sample.payload_hex))
                if sample.want_response { data.bool(3, true) }
                if sample.request_id != 0 { data.fixed32(6, sample.request_id) }
                if sample.reply_id != 0 { data.fixed32(7, sample.reply_id) }
                if sample.emoji != 0 { data.fixed32(8, sample.emoji) }
                if let bitfield = sample.bitfield { data.uint32(9, bitfield) }
                data.bytes(10, .init(hex: signature))
            }
        }
    }

    private func form(_ sample: Firmware281.Signed, _ signature: String) -> PacketSignature.Form? {
        let result = decoded(packet(sample, signature))
        return PacketSignature.validForm(of: result.packet, in: result.batch, publicKey: .init(hex: sample.public_key_hex))
    }

    @Test func `a signature of 2-8-1 covers all that a receiver goes by, one of 2-8-0 less, and each is distinguished`() throws {
        let samples = try #require(try Firmware281.load().signatures)
        #expect(samples.count == 12)
        for sample in samples {
            let result = decoded(packet(sample, sample.signature_hex))
            let payload = [UInt8](hex: sample.payload_hex)
            #expect(PacketSignature.signedBytes(of: result.packet, payload: payload, .whole) == .init(hex: sample.signed_hex))
            #expect(
                PacketSignature.signedBytes(of: result.packet, payload: payload, .payloadOnly)
                    == .init(hex: sample.signed_2_8_0_hex))
            #expect(form(sample, sample.signature_hex) == .whole)
            #expect(form(sample, sample.signature_2_8_0_hex) == .payloadOnly)
            var changed: [Firmware281.Signed] = Array(repeating: sample, count: 6)
            changed[0].to ^= 1
            changed[1].request_id ^= 8
            changed[2].reply_id ^= 1
            changed[3].emoji ^= 2
            changed[4].bitfield = sample.bitfield == nil ? 0 : nil
            changed[5].want_response.toggle()
            for other in changed {
                #expect(form(other, sample.signature_hex) == nil, "\(other)")
                #expect(form(other, sample.signature_2_8_0_hex) == .payloadOnly)
            }
            var forged = sample
            forged.from ^= 1
            #expect(form(forged, sample.signature_hex) == nil && form(forged, sample.signature_2_8_0_hex) == nil)
        }
    }
}
