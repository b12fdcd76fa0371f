import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import Meshtastic
import Synchronization
import ViewQuery

/// Completions of names for shells, from the ledger that the command line or the environment names. Without a ledger, there are none.
enum NameCompletion {
    /// Names of nodes; ids after `!`.
    static let nodes = CompletionKind.custom { words, _, prefix in
        await names(words) { ledger in
            let nodes = try ledger.nodes()
            if prefix.hasPrefix("!") { return nodes.map { NodeID.text($0.number) } }
            return nodes.flatMap { [$0.alias, $0.longName, $0.shortName] }
        }
    }

    static let channels = CompletionKind.custom { words, _, _ in
        await names(words) { ledger in
            let heard = try ledger.channels().map { $0.channel.hash.map { "hash \($0)" } ?? $0.channel.title }
            return heard + ledger.keys.keyring.channels.map(\.name)
        }
    }

    /// Channels that have a key.
    static let keys = CompletionKind.custom { words, _, _ in await names(words) { $0.keys.keyring.channels.map(\.name) } }

    /// Views that have rows.
    static let views = CompletionKind.custom { words, _, _ in await names(words) { $0.rowNames } }

    /// Columns of the list, or else of the view, that the command line names. Several are separated by commas.
    static let columns = columns { prefix, columns in
        let start = prefix.lastIndex(of: ",").map { prefix[...$0] } ?? ""
        return names(columns, prefix.dropFirst(start.count)).map { start + $0 }
    }
    /// Then the names that the values of a column have.
    static let conditions = columns { prefix, columns in
        guard let condition = try? RowCondition.parsed(prefix) else {  // not whole yet
            return names(columns, prefix[...]).map { $0 + "=" }
        }
        let wanted = GenericCell.plain(condition.column)
        let column = columns.first { [$0.name, $0.title].map(GenericCell.plain).contains(wanted) }
        return (column?.values ?? []).map { condition.column + condition.sign + $0 }
    }

    /// Once something is typed, also the names that tables have for columns.
    private static func names(_ columns: [KnownColumn], _ typed: Substring) -> [String] {
        (columns.map(\.name) + (typed.isEmpty ? [] : columns.map(\.title))).withoutRepeats
    }

    /// A column, and the names that its values have.
    struct KnownColumn {
        let name: String
        /// Its heading as one word.
        let title: String
        let values: [String]

        init<Row>(_ column: Column<Row>) {
            (name, title) = (column.name, column.title.replacing(" ", with: "_"))
            values = column.names?.all ?? []
        }
    }

    /// Finds the columns of the list that a command line asks for; set by the command that has all lists.
    ///
    /// Not a task-local value: with a function as its value, the release program crashes (Swift 6.3).
    static let columnsOfList = Mutex<@Sendable ([String], Ledger) async throws -> [KnownColumn]>({ _, _ in [] })

    private static func columns(_ offers: @escaping @Sendable (String, [KnownColumn]) -> [String]) -> CompletionKind {
        .custom { words, _, prefix in
            await names(words) { ledger in
                let words = Array(words.dropFirst())
                let find = columnsOfList.withLock { $0 }
                let listed = try await find(words, ledger)
                return offers(prefix, listed.isEmpty ? try columns(ofViewIn: words, ledger) : listed)
            }
        }
    }

    private static func columns(ofViewIn words: [String], _ ledger: Ledger) throws -> [KnownColumn] {
        func names<Row: QueryRow>(_ rows: Row.Type) throws -> [KnownColumn] {
            try GenericCell.allColumns(rows, in: ledger).map { KnownColumn($0) }
        }
        return try words.lazy.compactMap { ledger.rows(of: $0) }.first.map { try names($0) } ?? []
    }

    /// - Parameter words: the words of the command line, without their quotes.
    static func names(_ words: [String], _ find: (Ledger) async throws -> [String]) async -> [String] {
        let path = LedgerOption.path(ledger(in: words), ProcessInfo.processInfo.environment)
        // A shell has no place for an error: if nothing can be read, there is nothing to complete.
        do {
            let ledger = try await Ledger.open(at: path, options: CustomViews.options(access: .readOnly))
            let found: [String]
            do {
                found = try await find(ledger)
            } catch {
                try await ledger.close()
                return []
            }
            try await ledger.close()
            return found.filter { name in !name.isEmpty && !name.unicodeScalars.contains { $0.value < 0x20 } }
                .withoutRepeats
        } catch {
            return []
        }
    }

    private static func ledger(in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == "--ledger", index + 1 < words.count { return words[index + 1] }
            if word.hasPrefix("--ledger=") { return String(word.dropFirst("--ledger=".count)) }
        }
        return nil
    }
}
