import EventLog

/// How long, or how many, events are kept. Without a policy, all are.
public struct RetentionPolicy: Sendable, Equatable {
    /// Events that arrived longer ago than this are dropped.
    public var longestSeconds: Int64?
    /// The oldest events are dropped if the log's rows take more bytes than this.
    public var largestBytes: Int?

    public init(longestSeconds: Int64? = nil, largestBytes: Int? = nil) {
        self.longestSeconds = longestSeconds
        self.largestBytes = largestBytes
    }

    public var isOff: Bool { longestSeconds == nil && largestBytes == nil }

    /// Events before this time are dropped.
    func oldest(at now: Timestamp) -> Timestamp? { longestSeconds.map { now.adding(seconds: -$0) } }

    /// Each cut costs a new set of baselines, so a policy waits until it is exceeded by this much: a 64th, but for an age at most a day.
    var slack: RetentionPolicy {
        RetentionPolicy(
            longestSeconds: longestSeconds.map { age in
                let (sum, overflows) = age.addingReportingOverflow(min(age / 64, 86_400))
                return overflows ? .max : sum
            },
            largestBytes: largestBytes)
    }

    /// A cut of a log whose rows take more than the limit drops slightly more, for the same reason.
    func target(of bytes: Int) -> RetentionPolicy {
        RetentionPolicy(longestSeconds: longestSeconds, largestBytes: largestBytes.map { bytes > $0 ? $0 - $0 / 32 : $0 })
    }
}

extension RetentionPolicy {
    static func path(in ledger: String) -> String { file(in: ledger).path }

    private static func file(in ledger: String) -> SettingsFile {
        let path = ledger + "/retention"
        return SettingsFile(
            path: path, names: ["older-than-seconds", "larger-than-bytes"],
            damage:
                "\(path) is not a retention policy; set it again with `meshledger storage retain`, nothing is dropped until then")
    }

    /// The policy that is stored in the ledger.
    /// - Throws: `.corrupt` if the stored policy is damaged.
    public static func load(from ledger: String) throws(LedgerError) -> RetentionPolicy {
        let values = try file(in: ledger).load()
        return RetentionPolicy(
            longestSeconds: values["older-than-seconds"], largestBytes: values["larger-than-bytes"].map { Int(clamping: $0) })
    }

    /// Replaced in one step, even beside a running writer, which reads it the next time.
    /// - Throws: `.query` for an age or a size below 1, and errors of the disk.
    public func save(in ledger: String) throws(LedgerError) {
        let file = Self.file(in: ledger)
        guard longestSeconds ?? 1 > 0, largestBytes ?? 1 > 0 else {
            throw LedgerError(
                .query, path: file.path, "a retention policy keeps at least 1 second or 1 byte of events; nil keeps all")
        }
        try file.save([("older-than-seconds", longestSeconds), ("larger-than-bytes", largestBytes.map { Int64($0) })])
    }
}
