import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct SecretMaskTests {
    private static let secret: [UInt8] = Array("s3cret!!".utf8) + [0xff, 0x80, 0xfe, 0x81, 0xc3, 0xa9, 1, 2]

    private func frame(_ variant: UInt32, _ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        writer.varint(1, 7)
        writer.message(variant, body)
        return writer.bytes
    }

    private func channel(_ writer: inout WireWriter, index: Int32 = 1) {
        var channel = ChannelFrame()
        channel.index = index
        channel.name = "Hike"
        channel.psk = Self.secret
        channel.role = 2
        channel.encode(to: &writer)
    }

    private func contains(_ frame: [UInt8]) -> Bool {
        frame.indices.contains { frame[$0...].starts(with: Self.secret) }
    }

    @Test func `a channel's key is zeroed at equal length and handed back`() {
        var bytes = frame(10) { channel(&$0) }
        let before = bytes
        let found = SecretMask.apply(fromRadio: &bytes)
        #expect(found.isMasked && found.failure == nil && found.channels.count == 1)
        #expect(
            found.channels.first?.psk == Self.secret && found.channels.first?.name == "Hike" && found.channels.first?.index == 1)
        #expect(bytes.count == before.count && !contains(bytes))
        #expect(bytes.indices.count { bytes[$0] != before[$0] } == Self.secret.count)
        #expect(SecretMask.mask(fromRadio: &bytes) == false)
    }

    @Test func `each kind of secret is found`() {
        let frames: [[UInt8]] = [
            frame(5) { $0.message(4) { $0.bytes(4, Self.secret) } },  // Wi-Fi
            frame(5) { $0.message(8) { $0.bytes(2, Self.secret) } },  // private key
            frame(9) { $0.message(1) { $0.bytes(4, Self.secret) } },  // MQTT password
            frame(12) { $0.bytes(4, Self.secret) },  // file content
            frame(16) { $0.message(13) { $0.bytes(4, Self.secret) } },  // key verification
            frame(2) { packet in  // an admin message of a decoded packet, its port behind its payload
                packet.fixed32(1, 5)
                packet.message(4) { data in
                    data.message(2) { admin in
                        admin.message(2) { channel(&$0) }
                        admin.bytes(101, Self.secret)
                        admin.message(104) { $0.bytes(1, Self.secret) }
                    }
                    data.varint(1, 6)
                }
            },
            frame(14) { proxy in  // an envelope that the client is to pass on
                proxy.string(1, "msh/2/e/admin/!00000001")
                proxy.message(2) { envelope in
                    envelope.message(1) { packet in
                        packet.message(4) { data in
                            data.varint(1, 6)
                            data.message(2) { $0.bytes(101, Self.secret) }
                        }
                    }
                }
            },
        ]
        for (place, frame) in frames.enumerated() {
            var bytes = frame
            #expect(contains(frame))
            #expect(SecretMask.mask(fromRadio: &bytes), "frame \(place)")
            #expect(bytes.count == frame.count && !contains(bytes), "frame \(place)")
        }
    }

    @Test func `secret numbers become longer zeros`() {
        var bytes = frame(5) { config in
            config.message(7) { bluetooth in
                bluetooth.varint(2, 1)
                bluetooth.varint(3, 123_456)
                bluetooth.bool(1, true)
            }
        }
        #expect(SecretMask.mask(fromRadio: &bytes))
        let shown = Dissector.dissect(bytes.rawSpan, message: "FromRadio")
        let bluetooth = shown.json["config"]?["bluetooth"]
        #expect(shown.failure == nil && bluetooth?["fixed_pin"]?.asInteger ?? 0 == 0)
        #expect(bluetooth?["mode"]?.asString == "FIXED_PIN" && bluetooth?["enabled"] == .bool(true))
    }

    @Test func `public keys, names and packets of other ports stay`() {
        let frames: [[UInt8]] = [
            frame(5) { config in
                config.message(8) { security in
                    security.bytes(1, Self.secret)
                    security.bytes(3, Self.secret)
                }
            },
            frame(4) { $0.message(2) { $0.bytes(8, Self.secret) } },
            frame(10) { $0.message(2) { $0.bytes(3, Self.secret) } },
            frame(2) { packet in
                packet.message(4) { data in
                    data.varint(1, 1)
                    data.bytes(2, Self.secret)
                }
            },
            frame(2) { $0.bytes(5, Self.secret) },
            frame(14) { proxy in
                proxy.string(1, "msh/2/json/x/!00000001")
                proxy.bytes(2, Array("{\"from\":1}".utf8))
            },
        ]
        for (place, frame) in frames.enumerated() {
            var bytes = frame
            let found = SecretMask.apply(fromRadio: &bytes)
            #expect(!found.isMasked && found.failure == nil && bytes == frame, "frame \(place)")
        }
    }

    @Test func `the preset that names a channel is found`() {
        var bytes = frame(5) { config in
            config.message(6) { lora in
                lora.bool(1, true)
                lora.varint(2, 4)
            }
        }
        #expect(SecretMask.apply(fromRadio: &bytes).modemPreset == 4)
    }

    @Test func `a frame cut inside of a secret is masked to its end`() {
        let whole = frame(10) { writer in writer.message(2) { $0.bytes(2, Self.secret) } }
        for length in (whole.count - Self.secret.count)..<whole.count {
            var bytes = Array(whole.prefix(length))
            let found = SecretMask.apply(fromRadio: &bytes)
            #expect(found.failure != nil)
            #expect(bytes.suffix(length - (whole.count - Self.secret.count)).allSatisfy { $0 == 0 })
        }
    }

    @Test func `a secret that is longer than its message is masked to the end of the message and no further`() {
        var bytes = frame(10) { writer in
            writer.bytes(2, [0x12, 100] + Self.secret)
            writer.varint(3, 2)
        }
        let before = bytes
        #expect(SecretMask.apply(fromRadio: &bytes).failure != nil)
        let secret = before.count - 2 - Self.secret.count..<before.count - 2
        #expect(bytes.indices.filter { bytes[$0] != before[$0] } == Array(secret) && bytes[secret].allSatisfy { $0 == 0 })
    }

    @Test func `what cannot be parsed is left alone and said`() {
        for bytes in [[0xff, 0xff], [0x07], Array("console text".utf8), [0x0f, 1, 2]] as [[UInt8]] {
            var masked = bytes
            let found = SecretMask.apply(fromRadio: &masked)
            #expect(!found.isMasked && found.failure != nil && masked == bytes)
        }
    }

    @Test func `mutated frames keep their length and never trap`() {
        var generator = SeededGenerator(seed: 9)
        let seed = frame(10) { channel(&$0) } + frame(9) { $0.message(1) { $0.bytes(4, Self.secret) } }
        for _ in 0..<20000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0...10, using: &generator))
            let count = bytes.count
            _ = SecretMask.apply(fromRadio: &bytes)
            #expect(bytes.count == count)
        }
    }

    @Test(.enabled(if: SharedFolder.exists, "needs ../shared"))
    func `no key of a recorded stream is left`() throws {
        var framer = StreamFramer()
        let recorded = [UInt8](try Data(contentsOf: SharedFolder.file("captures/tcp-stream.bin")))
        var channels = 0
        for piece in framer.feed(recorded) {
            var bytes = piece.bytes
            let found = SecretMask.apply(fromRadio: &bytes)
            #expect(found.failure == nil && bytes.count == piece.bytes.count)
            for channel in found.channels where !channel.psk.isEmpty {
                channels += 1
                #expect(
                    found.isMasked && !bytes.indices.contains { bytes[$0...].starts(with: channel.psk) && channel.psk.count > 1 })
            }
        }
        #expect(channels > 0)
    }
}
