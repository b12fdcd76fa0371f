import Foundation
import TestKit

/// The groups of `vectors.json` that concern ciphers: of the project's own, and of that in ../shared where it is.
struct Vectors: Decodable {
    struct Group<Case: Decodable>: Decodable { var cases: [Case] }
    struct Channel: Decodable { var key_hex, nonce_hex, plaintext_hex, ciphertext_hex: String }
    struct Raw: Decodable { var key_hex, iv_hex, plaintext, ciphertext_hex: String }
    struct Direct: Decodable {
        var receiver_private_hex, sender_public_hex, nonce13_hex, shared_key_sha256_hex, plaintext_hex, encrypted_hex: String
    }
    struct Agreement: Decodable {
        var public_hex, private_hex: String
        var shared_hex, sha256_of_shared_hex: String?
    }
    struct Signature: Decodable {
        var x25519_private_hex, x25519_public_hex, ed25519_public_hex, signed_bytes_hex, signature_hex: String
        var valid: Bool
    }

    var aes_ctr_channel: Group<Channel>
    var aes_ctr_raw_rfc3686: Group<Raw>
    var pki_dm: Group<Direct>
    var x25519: Group<Agreement>
    var xeddsa_2_8: Group<Signature>

    static func load() throws -> Vectors {
        let all = try VectorFiles.all.map { try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: $0)) }
        return all.dropFirst().reduce(into: all[0]) { vectors, more in
            vectors.aes_ctr_channel.cases += more.aes_ctr_channel.cases
            vectors.aes_ctr_raw_rfc3686.cases += more.aes_ctr_raw_rfc3686.cases
            vectors.pki_dm.cases += more.pki_dm.cases
            vectors.x25519.cases += more.x25519.cases
            vectors.xeddsa_2_8.cases += more.xeddsa_2_8.cases
        }
    }
}

extension [UInt8] {
    init(hex: String) {
        let digits = Array<Character>(hex)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
    }
}
