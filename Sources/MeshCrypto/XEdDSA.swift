internal import CCrypto

/// Signatures made with an X25519 key, verified as Ed25519 under the point that the key maps to.
public enum XEdDSA {
    /// Whether the signature is that of the message under an X25519 public key of 32 bytes.
    public static func isValid(signature: [UInt8], of message: [UInt8], x25519PublicKey: [UInt8]) -> Bool {
        guard let key = ed25519Key(of: x25519PublicKey) else { return false }
        return Ed25519.isValid(signature: signature, of: message, publicKey: key)
    }

    /// y = (u - 1) / (u + 1) mod 2^255 - 19, sign bit clear; nil if the division has no result.
    public static func ed25519Key(of x25519PublicKey: [UInt8]) -> [UInt8]? {
        guard x25519PublicKey.count == 32, let context = unsafe BN_CTX_new() else { return nil }
        defer { unsafe BN_CTX_free(context) }
        unsafe BN_CTX_start(context)
        defer { unsafe BN_CTX_end(context) }
        var masked = x25519PublicKey
        masked[31] &= 0x7f
        guard let prime = unsafe BN_CTX_get(context), let u = unsafe BN_CTX_get(context),
            let above = unsafe BN_CTX_get(context), let below = unsafe BN_CTX_get(context),
            unsafe BN_set_bit(prime, 255) == 1, unsafe BN_sub_word(prime, 19) == 1,
            unsafe BN_lebin2bn(masked, 32, u) != nil,
            unsafe BN_copy(above, u) != nil, unsafe BN_add(above, above, prime) == 1, unsafe BN_sub_word(above, 1) == 1,
            unsafe BN_copy(below, u) != nil, unsafe BN_add_word(below, 1) == 1,
            unsafe BN_mod_inverse(below, below, prime, context) != nil,
            unsafe BN_mod_mul(u, above, below, prime, context) == 1
        else { return nil }
        var key = [UInt8](repeating: 0, count: 32)
        guard unsafe BN_bn2lebinpad(u, &key, 32) == 32 else { return nil }
        return key
    }
}
