import MeshCrypto
import TestKit
import Testing

@Suite struct VectorTests {
    @Test func `channel encryption gives the published bytes, both ways`() throws {
        for sample in try Vectors.load().aes_ctr_channel.cases {
            let cipher = try AESCTR(key: .init(hex: sample.key_hex))
            let plain = [UInt8](hex: sample.plaintext_hex)
            let sealed = [UInt8](hex: sample.ciphertext_hex)
            let iv = [UInt8](hex: sample.nonce_hex)
            #expect(try cipher.apply(iv: iv, plain) == sealed)
            #expect(try cipher.apply(iv: iv, sealed) == plain)
        }
    }

    @Test func `counter mode agrees with RFC 3686`() throws {
        for sample in try Vectors.load().aes_ctr_raw_rfc3686.cases {
            let cipher = try AESCTR(key: .init(hex: sample.key_hex))
            #expect(
                try cipher.apply(iv: .init(hex: sample.iv_hex), Array(sample.plaintext.utf8)) == .init(hex: sample.ciphertext_hex)
            )
        }
    }

    @Test func `direct messages open and seal`() throws {
        for sample in try Vectors.load().pki_dm.cases {
            let secret = try X25519.sharedSecret(
                privateKey: .init(hex: sample.receiver_private_hex), publicKey: .init(hex: sample.sender_public_hex))
            let key = SHA256.hash(secret)
            #expect(key == .init(hex: sample.shared_key_sha256_hex))
            let sealed = [UInt8](hex: sample.encrypted_hex)
            let ciphertext = Array(sealed.dropLast(12))
            let tag = Array(sealed.dropLast(4).suffix(8))
            let nonce = [UInt8](hex: sample.nonce13_hex)
            let plain = [UInt8](hex: sample.plaintext_hex)
            #expect(try AESCCM.open(key: key, nonce: nonce, ciphertext: ciphertext, tag: tag) == plain)
            let made = try AESCCM.seal(key: key, nonce: nonce, plaintext: plain)
            #expect(made.ciphertext == ciphertext && made.tag == tag)
            var wrong = tag
            wrong[0] ^= 1
            #expect(try AESCCM.open(key: key, nonce: nonce, ciphertext: ciphertext, tag: wrong) == nil)
        }
    }

    @Test func `keys agree on the published secrets and weak points are refused`() throws {
        for sample in try Vectors.load().x25519.cases {
            let own = [UInt8](hex: sample.private_hex)
            let peer = [UInt8](hex: sample.public_hex)
            if let shared = sample.shared_hex {
                #expect(try X25519.sharedSecret(privateKey: own, publicKey: peer) == .init(hex: shared))
            } else if let hash = sample.sha256_of_shared_hex {
                #expect(SHA256.hash(try X25519.sharedSecret(privateKey: own, publicKey: peer)) == .init(hex: hash))
            } else {
                #expect(throws: CryptoError(.refused, "X25519")) { try X25519.sharedSecret(privateKey: own, publicKey: peer) }
            }
        }
    }

    @Test func `signatures made with X25519 keys verify, and changed ones do not`() throws {
        for sample in try Vectors.load().xeddsa_2_8.cases {
            let key = [UInt8](hex: sample.x25519_public_hex)
            #expect(try X25519.publicKey(of: .init(hex: sample.x25519_private_hex)) == key)
            #expect(XEdDSA.ed25519Key(of: key) == .init(hex: sample.ed25519_public_hex))
            let message = [UInt8](hex: sample.signed_bytes_hex)
            var signature = [UInt8](hex: sample.signature_hex)
            #expect(XEdDSA.isValid(signature: signature, of: message, x25519PublicKey: key) == sample.valid)
            signature[7] ^= 4
            #expect(!XEdDSA.isValid(signature: signature, of: message, x25519PublicKey: key))
        }
    }
}

@Suite struct CipherFigureTests {
    @Test func `SHA-256 of abc is that of FIPS 180`() {
        #expect(SHA256.hash(Array("abc".utf8)) == .init(hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    }

    @Test func `Ed25519 signs and verifies the empty message of RFC 8032`() throws {
        let seed = [UInt8](hex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
        let key = try Ed25519.publicKey(of: seed)
        #expect(key == .init(hex: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
        let signature = try Ed25519.sign([], privateKey: seed)
        #expect(Ed25519.isValid(signature: signature, of: [], publicKey: key))
        #expect(!Ed25519.isValid(signature: signature, of: [0], publicKey: key))
    }

    @Test func `keys of a wrong length are refused`() {
        #expect(throws: CryptoError(.wrongKeyLength, "AES-CTR")) { try AESCTR(key: [1, 2, 3]) }
        #expect(throws: CryptoError(.wrongKeyLength, "X25519")) { try X25519.publicKey(of: [1]) }
    }
}
