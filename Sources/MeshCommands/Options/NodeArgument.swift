import ArgumentParser
import Foundation
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
        let typed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let number = NodeID.parse(typed) { return number }
        if typed.lowercased() == NodeID.everyone { return NodeID.broadcast }
        let number = UInt32(typed)
        if let number, try ledger.node(number, includingArchived: true) != nil { return number }
        let named = try named(typed, in: ledger)
        if named.count == 1 { return named[0].number }
        if named.isEmpty {
            if let id = try Self.hexadecimal(typed, in: ledger) ?? number { return id }
            var query = RowQuery()
            query.includesArchived = true
            let all = try ledger.nodes(query)
            let wanted = typed.lowercased()
            let aliased = all.filter { $0.alias.lowercased() == wanted }
            if aliased.count == 1 { return aliased[0].number }
            let advice = KnownName.suggestion(
                for: typed, among: all.flatMap { [$0.alias, $0.longName, $0.shortName] },
                then: "`meshledger nodes` lists them, and !hex or a number also names one")
            let isEveryone = ["all", "everyone", "broadcast"].contains(wanted)
            throw CommandError(
                .noInput, "no node is called \(typed)\(isEveryone ? "; everyone is \(NodeID.everyone)" : advice)")
        }
        let ids = named.prefix(5).map { NodeID.text($0.number) }.joined(separator: ", ")
        throw CommandError(.usage, "\(named.count) nodes are called \(typed) (\(ids)); give the node's id")
    }

    /// Those of this name; of several, the only one that is spelt exactly so.
    private func named(_ typed: String, in ledger: Ledger) throws -> [NodeRow] {
        let asTyped = try ledger.nodes(named: text)
        let named = asTyped.isEmpty ? try ledger.nodes(named: typed) : asTyped
        let exact = named.filter { [$0.longName, $0.shortName].contains(typed) }
        return exact.count == 1 ? exact : named
    }

    /// A known node whose id was typed without its `!`, or with `0x`.
    private static func hexadecimal(_ typed: String, in ledger: Ledger) throws -> UInt32? {
        let digits = typed.lowercased().hasPrefix("0x") ? typed.dropFirst(2) : typed[...]
        guard digits.utf8.count == 8, let number = UInt32(digits, radix: 16) else { return nil }
        return try ledger.node(number, includingArchived: true).map(\.number)
    }
}

extension CommandError {
    /// Why an answer about these is empty, where nothing was ever heard of one of them.
    static func unheard(_ nodes: [UInt32], _ packet: UInt32? = nil, in ledger: Ledger) throws -> CommandError? {
        if let node = try nodes.lazy.compactMap({ try unheard($0, in: ledger) }).first { return node }
        return try packet.flatMap { try ledger.packets(withID: $0).isEmpty ? .noPacket($0, in: ledger) : nil }
    }

    private static func unheard(_ number: UInt32, in ledger: Ledger) throws -> CommandError? {
        guard number != NodeID.broadcast else {
            return CommandError(
                .noInput,
                "\(NodeID.everyone) is everyone, not a node: --where to=\(NodeID.everyone) asks for what was sent to all")
        }
        guard try ledger.node(number, includingArchived: true) == nil else { return nil }
        let isMentioned = try? isMentioned(number, in: ledger)  // a view that is being built cannot say
        guard isMentioned == false else { return nil }
        return .noNode(number, "heard or mentioned", in: ledger)
    }

    /// The events of a gateway may have been dropped, and it may have sent nothing itself.
    private static func isMentioned(_ number: UInt32, in ledger: Ledger) throws -> Bool {
        try ledger.gateway(number) != nil || !ledger.links(of: number, RowQuery(limit: 1)).isEmpty
            || !ledger.events(of: number, limit: 1).isEmpty
    }
}
