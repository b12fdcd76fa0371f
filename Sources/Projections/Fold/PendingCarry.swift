/// The sequential stage's changes since a view's last commit. It holds the batches' own arrays, so that four views do not
/// keep four copies, and lets go of what the stage has forgotten meanwhile.
struct PendingCarry: Sendable {
    private var runs: [[Carry.Record]] = []
    private var firstRun = 0
    private var oldestRecord: UInt64 = 0
    private var entries: [Carry.Entry] = []
    private(set) var count = 0

    mutating func add(_ carry: Carry, after floor: UInt64) {
        if let first = carry.records.first {
            let run = first.sequence > floor ? carry.records : carry.records.filter { $0.sequence > floor }
            runs.append(run)
            count += run.count
        }
        entries += carry.entries.filter { $0.sequence > floor }
        oldestRecord = carry.oldestRecord
        while firstRun < runs.count, runs[firstRun].last?.sequence ?? 0 < oldestRecord {
            count -= runs[firstRun].count
            runs[firstRun] = []
            firstRun += 1
        }
        if firstRun > 1_000 {
            runs.removeFirst(firstRun)
            firstRun = 0
        }
    }

    /// All of it, for one transaction.
    var whole: Carry {
        var carry = Carry()
        carry.records.reserveCapacity(count)
        for run in runs[firstRun...] { carry.records += run }
        carry.oldestRecord = oldestRecord
        carry.entries = entries
        return carry
    }
}
