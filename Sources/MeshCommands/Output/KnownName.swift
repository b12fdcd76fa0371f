import Foundation
import MeshLedger
import MeshTables
import Meshtastic

/// Finds an existing name for a typed one, in any case, or throws an error that lists the names.
enum KnownName {
    /// - Parameters:
    ///   - what: what it names, such as `channel`.
    ///   - known: all names, those that matter most first.
    /// - Throws: a `CommandError` with 66 that lists the names, and first those that are spelt alike.
    static func find(_ text: String, _ what: String, among known: [String]) throws(CommandError) -> String {
        if known.contains(text) { return text }
        let wanted = text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
        let found = known.filter { $0.lowercased() == wanted }
        if let only = found.first, found.count == 1 { return only }
        guard found.isEmpty else {
            throw CommandError(.usage, "\(what)s that differ only in case: \(found.joined(separator: ", ")); say which")
        }
        let most = 20
        var list = known.prefix(most).joined(separator: ", ")
        if known.count > most { list += " and \(known.count - most) more" }
        let there = known.isEmpty ? "there are none" : "there are \(list)"
        throw CommandError(.noInput, "there is no \(what) \(text)\(suggestion(for: text, among: known, then: there))")
    }

    /// `; did you mean …? There are …`, or `; there are …` where no name is spelt alike.
    /// - Parameter rest: what comes after the suggestion.
    static func suggestion(for text: String, among known: [String], then rest: String) -> String {
        sentence(suggestion(for: text, among: known), rest)
    }

    static func sentence(_ guess: String, _ rest: String) -> String {
        guess.isEmpty ? "; \(rest)" : "\(guess) \(rest.prefix(1).uppercased())\(rest.dropFirst())"
    }

    /// `; did you mean …?`, or nothing where no name is spelt alike.
    static func suggestion(for text: String, among known: [String]) -> String {
        let wanted = Array(text.lowercased().unicodeScalars.prefix(longest))
        guard wanted.count > 1 else { return "" }
        let most = max(1, wanted.count / 3)
        // Another number is another channel.
        let isNumbered = text.lowercased().hasPrefix("hash ")
        let near = known.filter { !$0.isEmpty && !(isNumbered && $0.hasPrefix("hash ")) }.map { name in
            let name = (name: name, plain: Array(name.lowercased().unicodeScalars.prefix(longest)))
            return (name: name.name, distance: name.plain.starts(with: wanted) ? 1 : distance(wanted, name.plain))
        }
        guard let best = near.filter({ $0.distance <= most }).min(by: { $0.distance < $1.distance }) else { return "" }
        return "; did you mean \(best.name)?"
    }

    private static let longest = 48

    /// How many letters are to be changed, added, left out or swapped with the next.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var (before, last) = ([Int](), Array(0...right.count))
        for (row, letter) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, before[column - 1] + 1)
                }
                next.append(best)
            }
            (before, last) = (last, next)
        }
        return last[right.count]
    }
}

extension Ledger {
    /// The label of the channel that somebody names: in any case; `hash 3` for what no known key opens.
    /// - Parameter isLive: whether a hash that was never heard may be heard yet.
    func channel(named text: String?, isLive: Bool = false) throws -> String? {
        guard let text else { return nil }
        let rows = try channels()
        let heard = rows.map(\.channel)
        func name(_ channel: ChannelIdentity) -> String { channel.hash.map { "hash \($0)" } ?? channel.title }
        if let unread = heard.first(where: { $0.hash != nil && [name($0), $0.title].contains(text.lowercased()) }) {
            return unread.title
        }
        // That of a channel whose key is known.
        let ofHash = rows.filter { row in row.channel.isReadable && row.hash.map { "hash \($0)" } == text.lowercased() }
        if let only = ofHash.first, ofHash.count == 1 { return only.channel.title }
        if isLive, let hash = Self.channelHash(text) { return ChannelIdentity.title(ofHash: UInt32(hash)) }
        return try KnownName.find(text, "channel", among: (heard.map(name) + keys.keyring.channels.map(\.name)).withoutRepeats)
    }

    /// The channels that a hash can turn out to be of when its first packet comes: those with keys, where none of it was heard.
    func channelsAwaited(named text: String?) throws -> [String] {
        guard let hash = text.flatMap(Self.channelHash), try !channels().contains(where: { $0.hash == UInt32(hash) }) else {
            return []
        }
        return keys.keyring.channels.filter { $0.hash == hash }.map(\.name)
    }

    /// The number of `hash 3`.
    private static func channelHash(_ text: String) -> UInt8? {
        (UInt8.min...UInt8.max).first { "hash \($0)" == text.lowercased() }
    }

    /// The name of the view that somebody names.
    func view(named text: String) throws -> String {
        try KnownName.find(text, "view", among: (rowNames + viewNames).withoutRepeats)
    }
}

extension [String] {
    /// Each once, in their order.
    var withoutRepeats: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
