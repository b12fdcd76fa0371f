import ArgumentParser
import Foundation
import MeshLedger
import Meshtastic

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "The channel keys that packets are opened with.",
        discussion: """
            Adding or removing a key folds the log again: what was unreadable before appears with its true times.

              meshledger keys list
              meshledger keys add Harbour --psk AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
              meshledger keys remove Harbour
            """,
        subcommands: [KeysAddCommand.self, KeysListCommand.self, KeysRemoveCommand.self],
        defaultSubcommand: KeysListCommand.self)
}

struct KeysAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a channel's key, or a node's private key for direct messages.",
        discussion: """
            A PSK is base64 of 1 byte (AQ== is the default key), 16 or 32 bytes, as the Meshtastic apps show it; radios pad one of another
            length with zeros; it is added only if it opens a stored packet, or with --yes. A channel without encryption needs none. With `--psk -` it is read from standard input, so that it stays out of the shell's history.
            A channel with authenticated encryption (`use_aead`, firmware 2.8.1 and later) needs --aead. It opens only packets whose tag fits, and
            packets of the same name and key without a tag need a separate key.

            It says how many of the unreadable packets the key opens. On a terminal it asks before it keeps a key that opens none of them.

              meshledger keys add LongFast --psk AQ==
              meshledger keys add Harbour --psk - --aead < harbour.psk
              meshledger keys add --private-key - --node '!19025c00' < private.key
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The channel's name.") var name: String?
    @Option(help: "The channel's PSK in base64; - reads it from standard input.") var psk: String?
    @Flag(help: "The channel has authenticated encryption (use_aead).") var aead = false
    @Option(help: "A node's X25519 private key in base64; - reads it from standard input.") var privateKey: String?
    @Option(help: "The node that has the private key: !hex or a number.") var node: String?
    @Flag(help: "Keep the key without asking, even if it opens no stored packet.") var yes = false

    func validate() throws {
        if (psk == nil) == (privateKey == nil) { throw ValidationError("give either a name with --psk, or --private-key") }
        if psk == "" { throw ValidationError("the key is empty; a channel without a key needs none") }
        if psk != nil && name ?? "" == "" {
            throw ValidationError(
                "a channel's key needs the channel's name; one without a name has that of its preset, such as LongFast")
        }
        if aead && psk == nil { throw ValidationError("--aead is for a channel's key") }
    }

    func run() async throws {
        try await ledger.writing { ledger in
            let change: KeyringChange
            var oddLength: Int?
            if let psk, let name {
                let key = try Self.read(psk)
                let channel = try Self.key { try ChannelKey(name: name, base64: key, isAEAD: aead) }
                if ![0, 1, 16, 32].contains(channel.psk.count) { oddLength = channel.psk.count }
                guard channel.isAEAD || !aead else {
                    throw CommandError(.usage, "a channel without a key has no authenticated encryption")
                }
                change = .addChannels([channel])
            } else {
                let number = try node.map(Self.number(of:))
                let bytes = Data(base64Encoded: try Self.read(privateKey ?? ""))
                guard let bytes else { throw CommandError(.usage, "the private key is not base64") }
                change = .addPrivateKey(try Self.key { try PrivateKey(node: number, key: Array(bytes)) })
            }
            var keyring = try await ledger.keyring()
            guard change.apply(to: &keyring) > 0 else { return StandardOutput().line("that key is known already") }
            let trial = try await Self.trial(of: change, on: ledger)
            let found = trial.map { Self.finding($0) }
            if let oddLength, trial?.opened ?? 0 == 0, !yes {
                throw CommandError(
                    .usage,
                    "a PSK mostly has 1, 16 or 32 bytes, and this one \(oddLength), and it opens no stored packet; copy it whole from the app, or add --yes"
                )
            }
            if let trial, let found, trial.opened == 0, trial.unreadable > 0, !yes, Consent.canAsk,
                !Consent.isGiven("\(found); keep it?", isForGood: false)
            {
                throw CommandError(.declined, "the key is not kept")
            }
            guard try await ledger.changeKeys(change) > 0 else { return StandardOutput().line("that key is known already") }
            try await ledger.catchUp(title: "opening what is stored")
            StandardOutput().line("the key is added, and the views are folded again\(found.map { ": " + $0 } ?? "")")
        }
    }

    /// Tries the key on what is stored; nil while the index of packets is not built, which must not keep a key out.
    static func trial(of change: KeyringChange, on ledger: LedgerWriter) async throws -> KeyTrial? {
        do {
            return try await ledger.reading { try $0.keys.trial(of: change) }
        } catch let error as LedgerError where error.code == .notBuilt || error.code == .beingBuilt {
            return nil
        }
    }

    /// What a key or several open of what is stored.
    static func finding(_ trial: KeyTrial, keys: Int = 1) -> String {
        guard trial.unreadable > 0 else { return "no stored packet is unreadable" }
        return
            "\(keys == 1 ? "it opens" : "they open") \(trial.opened == 0 ? "none" : trial.opened.grouped) of \(trial.unreadable.counted("unreadable packet"))"
    }

    /// A key as given, or with - the first line of standard input.
    static func read(_ text: String) throws -> String {
        guard text == "-" else { return text }
        let key = (readLine() ?? "").trimmingCharacters(in: .whitespaces)
        guard !key.isEmpty else {
            throw CommandError(.usage, "standard input has no key in its first line; a channel without a key needs none")
        }
        return key
    }

    static func number(of node: String) throws -> UInt32 {
        guard let number = NodeID.parse(node) ?? UInt32(node), number != 0, number != NodeID.broadcast else {
            throw CommandError(.usage, "\(node) is not a node; use !hex or a number")
        }
        return number
    }

    static func key<Key>(_ make: () throws -> Key) throws -> Key {
        do {
            return try make()
        } catch {
            throw CommandError(.usage, "\(error)")
        }
    }
}
