import ArgumentParser
import EventLog
import MeshLedger

struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Set how large the ledger may grow, or show it.",
        discussion: """
            The limit is that of the log and the views together; what `storage retain` keeps of dropped events for the views, and views that are
            rebuilt beside the old ones, come on top, as do up to 16,384 events that an import stores at once. When it is reached, nothing more
            is stored and the error says so; reading, `storage retain`, `storage compact` and `erase` go on. Dropping old events frees space in
            the log only: views keep their rows, and where they fill the limit, only a higher one helps. Freed space inside the log is used
            first, unless a process that was stopped in the middle of reading keeps it: then appends slow down in the last eighth before the
            limit, and the error names that process, as `meshledger stats` does.
            The process that writes to the ledger applies a new limit within seconds.

              meshledger storage limit 20GB
              meshledger storage limit
              meshledger storage limit --off
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: ArgumentHelp("How many bytes: 20GB, 500MB, 1GiB.", valueName: "size")) var size: SizeArgument?
    @Flag(help: "Remove the limit.") var off = false

    func validate() throws {
        if off && size != nil { throw ValidationError("--off cannot be combined with other arguments") }
    }

    func run() async throws {
        let log = try ledger.openLogForReading()
        await log.close()
        if off { try SizeLimit().save(in: ledger.path) }
        if let size { try SizeLimit(bytes: size.bytes).save(in: ledger.path) }
        let limit = try SizeLimit.load(from: ledger.path).bytes
        guard let limit else { return StandardOutput().line("no size limit: only the disk limits the ledger") }
        StandardOutput().line("log and views may take \(limit.counted("byte"))")
        let sizes = LedgerFiles.sizes(ledger.path)
        guard sizes.log + sizes.current >= UInt64(limit) else { return }
        let views =
            sizes.current >= UInt64(limit)
            ? "the views alone take \(sizes.current.grouped)" : "they take \((sizes.log + sizes.current).grouped)"
        let advice =
            sizes.current >= UInt64(limit)
            ? "raise the limit"
            : "only free space inside the log takes new events; `storage retain` and `storage compact` make some"
        StandardOutput().line("\(views) already: \(advice)")
    }
}
