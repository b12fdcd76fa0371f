internal import MeshCrypto

/// The signature at the end of an event that records an erasure. Without it, anyone with write access to the files could remove payloads and claim
/// that their owner did.
enum ErasureSignature {
    /// Field 5 with 64 bytes, the last of the payload.
    private static let tag: [UInt8] = [0x2a, 0x40]
    private static let size = 64

    static func sign(_ payload: [UInt8], by signer: NoteSigner) throws(EventLogError) -> [UInt8] {
        payload + tag + (try signer.signature(of: message(payload[...], origin: signer.verifier.name)))
    }

    static func isSigned(_ payload: [UInt8], by verifier: NoteVerifier) -> Bool {
        let end = payload.count - size
        guard end >= tag.count, Array(payload[end - tag.count..<end]) == tag else { return false }
        return Ed25519.isValid(
            signature: Array(payload[end...]), of: message(payload[..<(end - tag.count)], origin: verifier.name),
            publicKey: verifier.publicKey)
    }

    private static func message(_ payload: ArraySlice<UInt8>, origin: String) -> [UInt8] {
        Array("\(origin) erasure\n".utf8) + payload
    }
}
