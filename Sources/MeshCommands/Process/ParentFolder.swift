import Foundation
import MeshLedger

/// Creates the parent folder of a new ledger, if it is missing.
func makeParent(of path: String) throws {
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    do {
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    } catch {
        if let failure = LedgerError(ofFile: error), [.full, .permission, .readOnly].contains(failure.code),
            let known = CommandError(known: failure)
        {
            throw known
        }
        let reason = LedgerError(ofFile: error)?.description ?? "\(error)"
        throw CommandError(.cannotCreate, "the folder \(parent) cannot be made: \(reason)")
    }
}
