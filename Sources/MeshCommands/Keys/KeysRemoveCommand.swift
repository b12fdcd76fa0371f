import ArgumentParser
import MeshLedger
import Meshtastic

struct KeysRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove the keys of a channel, or the private keys of a node.",
        discussion: """
            Where a channel has several keys, --key removes the one with that fingerprint, as `keys list` shows it, and --aead or --no-aead the one
            with or without authenticated encryption.

              meshledger keys remove Harbour
              meshledger keys remove Harbour --no-aead
              meshledger keys remove --private-key --node '!19025c00'
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The channel's name.", completion: NameCompletion.keys) var name: String?
    @Option(help: "Only the key with this fingerprint.") var key: String?
    @Flag(inversion: .prefixedNo, help: "Only the key with authenticated encryption, or the one without.") var aead: Bool?
    @Flag(help: "Remove private keys: those of --node, else those that belong to no particular node.") var privateKey = false
    @Option(help: "The node that has the private key: !hex or a number.") var node: String?

    func validate() throws {
        if (name == nil) == !privateKey { throw ValidationError("give either a channel's name or --private-key") }
        if let key, UInt64(key, radix: 16) == nil { throw ValidationError("a fingerprint has up to 16 hexadecimal digits") }
    }

    func run() async throws {
        try await ledger.writing { ledger in
            let change: KeyringChange
            let isNode = name.map { NodeID.parse($0) != nil } ?? false
            let known = try await ledger.keyring().channels.map(\.name).withoutRepeats
            let name = try isNode ? name : name.map { try KnownName.find($0, "key of a channel", among: known) }
            if let name {
                change = .removeChannels(named: name, fingerprint: key.flatMap { UInt64($0, radix: 16) }, isAEAD: aead)
            } else {
                change = .removePrivateKeys(node: try node.map(KeysAddCommand.number(of:)))
            }
            let removed = try await ledger.changeKeys(change)
            let owner = name.map { "channel \($0)" } ?? node.map { "node \($0)" } ?? "no particular node"
            guard removed > 0 else {
                let way = isNode ? "a node's key is removed with --private-key --node" : "`meshledger keys list` shows them"
                throw CommandError(.noInput, "there is no such key of \(owner); \(way)")
            }
            try await ledger.catchUp(title: "folding again")
            let keys = "\(removed.counted("key")) of \(owner) \(removed == 1 ? "is" : "are") removed"
            StandardOutput().line("\(keys), and the views are folded again")
        }
    }
}
