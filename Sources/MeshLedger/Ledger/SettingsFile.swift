import EventLog
import Foundation
import LMDB

/// A small file of a ledger, which a flipped bit must not change unnoticed: lines of a name and a number from 1 on.
struct SettingsFile {
    let path: String
    let names: Set<String>
    /// What to say of a file that is damaged.
    let damage: String

    /// The numbers by name; none if the file was never written.
    func load() throws(LedgerError) -> [String: Int64] {
        var values: [String: Int64] = [:]
        let text: String
        do throws(EventLogError) {
            guard let found = try CheckedText.readWhole(path) else { return values }
            text = found
        } catch {
            throw error.code == .corrupt ? LedgerError(.corrupt, path: path, damage) : LedgerError(error)
        }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, names.contains(String(words[0])), let value = Int64(words[1]), value > 0 else {
                throw LedgerError(.corrupt, path: path, damage)
            }
            values[String(words[0])] = value
        }
        guard !values.isEmpty else { throw LedgerError(.corrupt, path: path, damage) }
        return values
    }

    /// Replaced in one step, even beside a running writer; removed if there is no number.
    func save(_ values: [(name: String, value: Int64?)]) throws(LedgerError) {
        let text = values.compactMap { line in line.value.map { "\(line.name) \($0)\n" } }.joined()
        try LedgerError.wrapping(path) {
            if text.isEmpty { try OwnedFile.remove(path) } else { try CheckedText.replace(path, with: text) }
        }
    }
}
