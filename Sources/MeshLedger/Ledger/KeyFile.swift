import Foundation
import LMDB
import Meshtastic

/// `keys.json` in the ledger's folder: the user's channel keys, readable by the owner only. Without it, the
/// presets' names under the default key are known.
enum KeyFile {
    static func path(in ledger: String) -> String { ledger + "/keys.json" }

    static func load(from ledger: String) throws(LedgerError) -> Keyring {
        let path = path(in: ledger)
        guard let bytes = try LedgerError.wrapping(path, { try OwnedFile.contents(path) }) else { return .standard }
        do {
            return try JSONDecoder().decode(Keyring.self, from: Data(bytes))
        } catch {
            throw LedgerError(
                .keys, path: path,
                "\(path) cannot be read as channel keys (\(Self.reason(error))); repair it, or move it away to use the default keys",
                underlying: error)
        }
    }

    /// Written to a temporary file, synced and renamed. A new one is its owner's and, where the ledger is open to a group, readable to that: otherwise the
    /// group could read nothing any more.
    static func save(_ keyring: Keyring, in ledger: String) throws(LedgerError) {
        let path = path(in: ledger)
        try LedgerError.wrapping(path) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let data = try encoder.encode(keyring)
            try OwnedFile.replace(path, with: Array(data), mode: .groupLikeFolder)
        }
    }

    /// Without the text for programmers that Foundation adds.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(_, let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.dataCorrupted(let context):
            context.debugDescription
        default: "\(error)"
        }
    }
}
