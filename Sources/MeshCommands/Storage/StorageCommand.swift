import ArgumentParser

struct StorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage", abstract: "Limit, drop, compress and compact what is stored.",
        discussion: """
              meshledger storage limit 20GB
              meshledger storage retain --older-than 1y --dry-run
              meshledger storage seal
              meshledger storage compact
            """,
        subcommands: [LimitCommand.self, RetainCommand.self, SealCommand.self, CompactCommand.self])
}
