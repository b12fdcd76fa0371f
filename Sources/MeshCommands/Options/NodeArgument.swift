import ArgumentParser
import MeshLedger
import Meshtastic

/// A node, given as `!hex`, a decimal number, its alias, or a name that only one node has.
struct NodeArgument: ExpressibleByArgument {
    var text: String

    static var defaultCompletionKind: CompletionKind { NameCompletion.nodes }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        text = argument
    }

    /// Short names like `1234` are common: a number first means a known node's number, then a name.
    func number(in ledger: Ledger) throws -> UInt32 {
        if let number = NodeID.parse(text) { return number }
        let number = UInt32(text)
        if let number, try ledger.node(number, includingArchived: true) != nil { return number }
        let named = try ledger.nodes(named: text)
        if named.count == 1 { return named[0].number }
        if let number, named.isEmpty { return number }
        if named.isEmpty {
            var query = RowQuery()
            query.includesArchived = true
            let all = try ledger.nodes(query)
            let wanted = text.lowercased()
            let aliased = all.filter { $0.alias.lowercased() == wanted }
            if aliased.count == 1 { return aliased[0].number }
            let guess = KnownName.suggestion(for: text, among: all.flatMap { [$0.alias, $0.longName, $0.shortName] })
            throw CommandError(
                .noInput, "no node is called \(text)\(guess); `meshledger nodes` lists them, and !hex or a number also names one")
        }
        let ids = named.prefix(5).map { NodeID.text($0.number) }.joined(separator: ", ")
        throw CommandError(.usage, "\(named.count) nodes are called \(text) (\(ids)); say which by its id")
    }
}
