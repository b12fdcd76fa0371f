import Foundation
import TestKit

/// The groups of `vectors.json` that concern packets.
struct MeshtasticVectors: Decodable {
    struct Group<Case: Decodable>: Decodable { var cases: [Case] }
    struct Key: Decodable { var psk_hex, key_hex: String }
    struct Hash: Decodable {
        var name, psk_b64: String
        var hash: UInt8
    }
    struct Channel: Decodable {
        var key_hex, plaintext_hex, ciphertext_hex: String
        var from, id: UInt32
    }
    struct Direct: Decodable {
        var receiver_private_hex, sender_public_hex, plaintext_hex, encrypted_hex: String
        var sender_private_hex, receiver_public_hex: String?
        var from, id: UInt32
    }
    struct Signature: Decodable {
        var x25519_public_hex, signed_bytes_hex, signature_hex: String
        var from, id, portnum: UInt32?
        var payload_hex: String?
    }
    struct Precision: Decodable {
        var `in`: Int32
        var p: Int
        var out: Int32
    }
    struct Replay: Decodable {
        struct Case: Decodable { var node, ts, kind, id: UInt32 }
        var cases: [Case]
        var captured_replay_meshpacket_hex, captured_live_meshpacket_hex: String
    }
    struct NodeNumber: Decodable {
        var node_num: UInt32
        var id: String
    }
    struct Real: Decodable {
        var name, kind, raw_b64: String
        var parses: Bool
        var channel_id, gateway_id, key_hex, how, payload_hex, text, variant: String?
        var from, to, id, channel, rx_time, hop_start, hop_limit, portnum: UInt32?
    }

    var key_expansion: Group<Key>
    var channel_hash: Group<Hash>
    var aes_ctr_channel: Group<Channel>
    var pki_dm: Group<Direct>
    var xeddsa_2_8: Group<Signature>
    var position_precision: Group<Precision>
    var firmware_2_8_replay_id: Replay
    var node_num_2_8: Group<NodeNumber>
    /// In ../shared only.
    var real_packets: Group<Real>?

    static func all() throws -> [MeshtasticVectors] {
        try VectorFiles.all.map { try JSONDecoder().decode(MeshtasticVectors.self, from: Data(contentsOf: $0)) }
    }

    /// The cases of a group in all files.
    static func cases<Case>(_ group: KeyPath<MeshtasticVectors, Group<Case>>) throws -> [Case] {
        try all().flatMap { $0[keyPath: group].cases }
    }
}

extension [UInt8] {
    init(hex: String) {
        let digits = Array<Character>(hex)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
    }

    init(base64: String) { self = Data(base64Encoded: base64).map { Array($0) } ?? [] }
}
