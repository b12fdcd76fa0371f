import Foundation
import TestKit
import Testing

@testable import EventLog

struct ErasureSignatureTests {
    @Test func `an erasure after a checkpoint is believed only when it is signed by the key of the checkpoint`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try await logOfSecrets(path, 700)
        let stranger = try EventLog.temporary()
        let (own, others) = (try log.verifier(), try stranger.verifier())
        let before = try #require(LogCheckpoint(log.checkpoint()))
        let report = try await log.erase([EventSequence(300)...EventSequence(310)], reason: "asked for")
        let after = try #require(LogCheckpoint(log.checkpoint()))
        #expect(try log.verify(extending: before, signedBy: own).isIntact)
        #expect(try log.verify(extending: before).isIntact)
        let problems = try log.verify(extending: before, signedBy: others).problems
        #expect(problems.map(\.sequence) == report.events && problems.allSatisfy { $0.text.contains("not by the given one") })
        // What a checkpoint covers was there when it was signed.
        #expect(try log.verify(extending: after, signedBy: others).isIntact)
        await log.close()

        // Who can write the files can put another key there, which the owner's copy of the public one does not fit.
        let seed = Data((0..<32).map { UInt8($0) }).base64EncodedString()
        try seed.write(toFile: path + "/signing.key", atomically: true, encoding: .utf8)
        log = try EventLog.open(at: path)
        let forged = try await log.erase([EventSequence(1)...EventSequence(1)], reason: "nobody asked")
        #expect(try log.verify(extending: before, signedBy: own).problems.map(\.sequence) == forged.events)
        await log.close()
        await stranger.close()
    }
    @Test func `a signature follows the payload as its field 5, and is of every byte before it and of the ledger`() throws {
        let signer = try #require(NoteSigner(name: "meshledger/a", seed: [UInt8](repeating: 9, count: 32)))
        let other = try #require(NoteSigner(name: "meshledger/b", seed: [UInt8](repeating: 9, count: 32)))
        for payload in [[], [10, 2, 0, 0]] as [[UInt8]] {
            let signed = try ErasureSignature.sign(payload, by: signer)
            #expect(signed.count == payload.count + 66 && Array(signed.prefix(payload.count + 2)) == payload + [5 << 3 | 2, 64])
            #expect(
                ErasureSignature.isSigned(signed, by: signer.verifier) && !ErasureSignature.isSigned(signed, by: other.verifier))
            for place in signed.indices {
                var changed = signed
                changed[place] ^= 1
                #expect(!ErasureSignature.isSigned(changed, by: signer.verifier), "byte \(place)")
            }
            for bytes in [
                payload, signed.dropLast(), signed + [0], Array(signed.suffix(65)), Array(signed.suffix(64)), [0] + signed,
            ] {
                #expect(!ErasureSignature.isSigned(Array(bytes), by: signer.verifier), "\(bytes.count)")
            }
        }
    }
}
