/// The sequential stage's changes since a view's last commit. It holds the batches' own arrays, so that four views do not
/// keep four copies, and drops what the stage has dropped meanwhile.
struct PendingStageState: Sendable {
    private(set) var records = PendingRuns<StageState.Record>()
    private(set) var receptions = PendingRuns<StageState.Reception>()
    private(set) var entries: [StageState.Entry] = []

    /// Bytes that wait for the next commit.
    var byteCount: Int {
        records.count * StageStateChunk.size(of: StageState.Record.self) + receptions.count
            * StageStateChunk.size(of: StageState.Reception.self)
    }

    mutating func add(_ stageState: StageState, after floor: UInt64) {
        records.add(stageState.records, after: floor, oldest: stageState.oldestRecord)
        receptions.add(stageState.receptions, after: floor, oldest: stageState.oldestReception)
        entries += stageState.entries.filter { $0.sequence > floor }
    }
}

/// Records of several batches, as the batches have them.
struct PendingRuns<Record: StageStateRecord>: Sendable {
    private var all: [[Record]] = []
    private var firstRun = 0
    private(set) var oldest: UInt64 = 0
    private(set) var count = 0

    var runs: ArraySlice<[Record]> { all[firstRun...] }

    mutating func add(_ records: [Record], after floor: UInt64, oldest: UInt64) {
        if let first = records.first {
            let run = first.sequence > floor ? records : records.filter { $0.sequence > floor }
            all.append(run)
            count += run.count
        }
        self.oldest = oldest
        while firstRun < all.count, all[firstRun].last?.sequence ?? 0 < oldest {
            count -= all[firstRun].count
            all[firstRun] = []
            firstRun += 1
        }
        if firstRun > 1_000 {
            all.removeFirst(firstRun)
            firstRun = 0
        }
    }
}
