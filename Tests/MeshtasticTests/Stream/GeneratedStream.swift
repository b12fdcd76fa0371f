import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// A radio's stream, and single packets, that a script makes up with the official package's encoder.
@Suite(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
struct GeneratedStream {
    private func pieces(_ seed: UInt64) throws -> (bytes: [UInt8], pieces: [StreamPiece]) {
        let folder = try TemporaryFolder()
        let bytes = [UInt8](try Data(contentsOf: try GeneratedCapture("stream", seed: seed, in: folder).url))
        var framer = StreamFramer()
        return (bytes, framer.feed(bytes) + framer.finish())
    }

    @Test func `a generated stream has nothing between its frames, and no byte is lost`() throws {
        let (bytes, found) = try pieces(91)
        #expect(found.allSatisfy { $0.kind == .frame } && found.count > 100)
        let again = found.reduce(into: [UInt8]()) { bytes, piece in
            bytes += [0x94, 0xc3, UInt8(piece.bytes.count >> 8), UInt8(piece.bytes.count & 255)] + piece.bytes
        }
        #expect(again == bytes)
    }

    @Test func `no key of a generated stream is left`() throws {
        var channels = 0
        for piece in try pieces(92).pieces {
            var bytes = piece.bytes
            let found = SecretMask.apply(fromRadio: &bytes)
            #expect(bytes.count == piece.bytes.count)
            for channel in found.channels where channel.psk.count > 1 {
                channels += 1
                #expect(found.isMasked && !bytes.indices.contains { bytes[$0...].starts(with: channel.psk) })
            }
        }
        #expect(channels > 0)
    }

    /// The official decoder's payload stands in the tree as it stands in the packet.
    @Test(arguments: ["envelopes.base64", "packets.jsonl"])
    func `D14: every payload that the official decoder opens stands in the dissected tree`(name: String) throws {
        let folder = try TemporaryFolder()
        let capture = try Oracle.generate(name, seed: 93, hostile: 0, in: folder)
        let form: CaptureForm = name.hasSuffix(".jsonl") ? .meshPacket : .serviceEnvelope
        var payloads = 0
        for (bytes, line) in zip(try Oracle.events(in: capture), try Oracle.decode(capture)) {
            let event = Dissector.dissectEvent(form: form, bytes: bytes.rawSpan, keyring: .standard)
            #expect(event.message?.range.count == bytes.count)
            guard let payload = line.payload_hex, !payload.isEmpty else { continue }
            payloads += 1
            #expect(event.textTree.contains("2 payload = \(payload)"), "\(event.textTree)")
        }
        #expect(payloads > 50)
    }
}
