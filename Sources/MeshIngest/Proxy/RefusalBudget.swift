/// Which refusals are named in the log. Anyone can cause many, and none may hide those of another client or kind.
struct RefusalBudget {
    enum Kind: Hashable {
        /// Requests that need share-admin.
        case settings
        case connection
        /// Bytes that are no frame.
        case bytes
        case packet
        /// One for a broker, or a part of a file.
        case message
        case place
        /// That a client does not read.
        case answers

        /// How many are named in a minute, of each client.
        fileprivate var limit: Int { self == .settings ? 10 : 1 }
    }

    private struct Key: Hashable {
        var kind: Kind
        var client: String
    }

    private static let seconds = 60.0
    private static let mostKeys = 256
    private var counts: [Key: (since: ContinuousClock.Instant, named: Int, unnamed: Int)] = [:]

    /// - Returns: how many of this client and kind were not named since the last one; nil if this one is not named either
    mutating func take(_ kind: Kind, of client: String, at now: ContinuousClock.Instant = .now) -> Int? {
        let key = Key(kind: kind, client: client)
        let old = counts[key]
        if let old, old.since.duration(to: now) < .seconds(Self.seconds) {
            guard old.named < kind.limit else {
                counts[key]?.unnamed += 1
                return nil
            }
            counts[key]?.named += 1
            return 0
        }
        counts[key] = (now, 1, 0)
        if counts.count > Self.mostKeys, let oldest = counts.min(by: { $0.value.since < $1.value.since }) {
            counts[oldest.key] = nil
        }
        return old?.unnamed ?? 0
    }
}
