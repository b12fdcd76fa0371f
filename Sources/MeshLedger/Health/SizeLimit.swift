/// The most bytes that a ledger's log and views may take together, as stored in the ledger. Without a limit, only the disk bounds them.
public struct SizeLimit: Sendable, Equatable {
    public var bytes: Int?

    public init(bytes: Int? = nil) { self.bytes = bytes }

    static func path(in ledger: String) -> String { file(in: ledger).path }

    private static func file(in ledger: String) -> SettingsFile {
        let path = ledger + "/limit"
        return SettingsFile(
            path: path, names: ["size-bytes"],
            damage: "\(path) is not a size limit; set it again with `meshledger storage limit`")
    }

    /// The limit that is stored in the ledger; none if it was never set.
    /// - Throws: `.corrupt` if the stored limit is damaged.
    public static func load(from ledger: String) throws(LedgerError) -> SizeLimit {
        SizeLimit(bytes: try file(in: ledger).load()["size-bytes"].map { Int(clamping: $0) })
    }

    /// Replaced in one step, even beside a running writer, which applies it within seconds.
    /// - Throws: `.query` for a limit below 1, and errors of the disk.
    public func save(in ledger: String) throws(LedgerError) {
        let file = Self.file(in: ledger)
        guard bytes ?? 1 > 0 else {
            throw LedgerError(.query, path: file.path, "a size limit is at least 1 byte; nil is no limit")
        }
        try file.save([("size-bytes", bytes.map { Int64($0) })])
    }
}
