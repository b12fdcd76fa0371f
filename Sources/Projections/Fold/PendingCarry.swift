/// The sequential stage's changes since a view's last commit. It holds the batches' own arrays, so that four views do not
/// keep four copies, and drops what the stage has dropped meanwhile.
struct PendingCarry: Sendable {
    private var records = PendingRuns<Carry.Record>()
    private var receptions = PendingRuns<Carry.Reception>()
    private var entries: [Carry.Entry] = []

    /// What waits for the next commit, in bytes.
    var byteCount: Int {
        records.count * CarryChunk.size(of: Carry.Record.self) + receptions.count * CarryChunk.size(of: Carry.Reception.self)
    }

    mutating func add(_ carry: Carry, after floor: UInt64) {
        records.add(carry.records, after: floor, oldest: carry.oldestRecord)
        receptions.add(carry.receptions, after: floor, oldest: carry.oldestReception)
        entries += carry.entries.filter { $0.sequence > floor }
    }

    /// All of it, for one transaction.
    var whole: Carry {
        var carry = Carry()
        (carry.records, carry.oldestRecord) = (records.whole, records.oldest)
        (carry.receptions, carry.oldestReception) = (receptions.whole, receptions.oldest)
        carry.entries = entries
        return carry
    }
}

/// Records of several batches, as the batches have them.
private struct PendingRuns<Record: CarryRecord>: Sendable {
    private var runs: [[Record]] = []
    private var firstRun = 0
    private(set) var oldest: UInt64 = 0
    private(set) var count = 0

    mutating func add(_ records: [Record], after floor: UInt64, oldest: UInt64) {
        if let first = records.first {
            let run = first.sequence > floor ? records : records.filter { $0.sequence > floor }
            runs.append(run)
            count += run.count
        }
        self.oldest = oldest
        while firstRun < runs.count, runs[firstRun].last?.sequence ?? 0 < oldest {
            count -= runs[firstRun].count
            runs[firstRun] = []
            firstRun += 1
        }
        if firstRun > 1_000 {
            runs.removeFirst(firstRun)
            firstRun = 0
        }
    }

    var whole: [Record] {
        var all: [Record] = []
        all.reserveCapacity(count)
        for run in runs[firstRun...] { all += run }
        return all
    }
}
