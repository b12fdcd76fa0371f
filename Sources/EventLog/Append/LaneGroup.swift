/// A part of a lane that is stored in one transaction.
struct LaneGroup {
    /// The approximate limit for the events of one transaction, in bytes: well below LMDB's spill size.
    static let size = 16 << 20

    var entries = 0..<0
    /// The requests among the entries.
    var requests = 0..<0
    /// The range of the entries' payloads in the lane's bytes.
    var bytesStart = 0
    var bytesEnd = 0

    /// The group after this one: at least one entry.
    func next(in lane: AppendBatch) -> LaneGroup {
        var group = after
        var size = 0
        repeat {
            size += group.extend(in: lane)
        } while size < Self.size && group.entries.upperBound < lane.entries.count
        return group
    }

    /// Whether only the log itself asked for it: what records erased and dropped events, and requests that only wait.
    func isOfLog(in lane: AppendBatch) -> Bool {
        requests.count == entries.count && lane.requests[requests].allSatisfy(\.isOfLog)
    }

    /// Each entry as a separate group.
    func singles(of lane: AppendBatch) -> [LaneGroup] {
        var single = LaneGroup(
            entries: entries.lowerBound..<entries.lowerBound, requests: requests.lowerBound..<requests.lowerBound,
            bytesStart: bytesStart, bytesEnd: bytesStart)
        return entries.map { _ in
            single = single.after
            _ = single.extend(in: lane)
            return single
        }
    }

    private var after: LaneGroup {
        LaneGroup(
            entries: entries.upperBound..<entries.upperBound, requests: requests.upperBound..<requests.upperBound,
            bytesStart: bytesEnd, bytesEnd: bytesEnd)
    }

    /// Adds one more entry.
    /// - Returns: approximately how many bytes storing it takes.
    private mutating func extend(in lane: AppendBatch) -> Int {
        let length = lane.entries[entries.upperBound].length
        entries = entries.lowerBound..<entries.upperBound + 1
        if let length {
            bytesEnd += Int(length)
            return Int(length) + RecordHeader.size
        }
        requests = requests.lowerBound..<requests.upperBound + 1
        return lane.requests[requests.upperBound - 1].size
    }
}
