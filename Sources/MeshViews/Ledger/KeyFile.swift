import Foundation
import Meshtastic

/// `keys.json` in the ledger's folder: the channel keys that the user gave, readable by the owner only. Without it the
/// presets' names under the default key are known.
enum KeyFile {
    static func path(in ledger: String) -> String { ledger + "/keys.json" }

    static func load(from ledger: String) throws(LedgerError) -> Keyring {
        let path = path(in: ledger)
        guard FileManager.default.fileExists(atPath: path) else { return .standard }
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            return try JSONDecoder().decode(Keyring.self, from: data)
        } catch {
            throw LedgerError(
                .keys, path: path,
                "\(path) cannot be read as channel keys (\(error)); mend it, or move it away to use the default keys",
                underlying: error)
        }
    }

    /// Written aside with mode 0600, synced and renamed.
    static func save(_ keyring: Keyring, in ledger: String) throws(LedgerError) {
        let path = path(in: ledger)
        let temporary = path + ".new"
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let data = try encoder.encode(keyring)
            unsafe unlink(temporary)
            let file = unsafe Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw CocoaError(.fileWriteNoPermission) }
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
            guard unsafe rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw LedgerError(.keys, path: path, "the keys could not be stored in \(path): \(error)", underlying: error)
        }
    }
}
