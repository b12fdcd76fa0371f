internal import Synchronization

/// A stretch of the queue: what was appended while the writer was busy with the previous stretch.
///
/// A small single event is copied into `bytes` and an entry without references, so that an append costs one short lock, no
/// allocation and no reference counts. Everything else is a separate request, with an entry that keeps its place.
struct AppendBatch: Sendable {
    /// Safe: each continuation is resumed exactly once.
    @safe struct Entry: Sendable {
        var header: RecordHeader
        /// Bytes of the payload; nil for a request.
        var length: Int32?
        /// The first sequence if it was stored, otherwise 0.
        var first: UInt64 = 0
        var waiter: UnsafeContinuation<UInt64, any Error>?
    }

    /// Single events above this size are not copied but passed by reference.
    static let largestCopy = 4096

    var bytes: [UInt8] = []
    var entries: [Entry] = []
    var requests: [AppendRequest] = []
    /// One for each request.
    var outcomes: [AppendOutcome] = []
    /// Why an entry was not stored.
    var failures: [Int: EventLogError] = [:]

    mutating func add(_ header: RecordHeader, _ payload: [UInt8], _ waiter: UnsafeContinuation<UInt64, any Error>) {
        bytes.append(contentsOf: payload)
        unsafe entries.append(Entry(header: header, length: Int32(payload.count), waiter: waiter))
    }

    mutating func add(_ request: AppendRequest) {
        let header = RecordHeader(encoding: .note, source: .log, reception: .live, isMasked: false)
        unsafe entries.append(Entry(header: header, length: nil, waiter: nil))
        requests.append(request)
    }

    /// Reports the outcome of their appends to the callers of some entries; `firstRequest` is the first entry that is a request.
    func complete(_ places: Range<Int>, firstRequest: Int) {
        var request = firstRequest
        for place in places {
            let entry = entries[place]
            if let waiter = unsafe entry.waiter {
                if entry.first != 0 {
                    unsafe waiter.resume(returning: entry.first)
                } else {
                    unsafe waiter.resume(throwing: failures[place] ?? EventLogError(.closed, path: "the log"))
                }
            } else {
                requests[request].complete(outcomes[request])
                request += 1
            }
        }
    }

    /// Empties the lane and keeps its memory, unless it has grown large.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity < 1 << 22)
        entries.removeAll(keepingCapacity: entries.capacity < 1 << 16)
        requests.removeAll()
        outcomes.removeAll()
        failures.removeAll()
    }
}

/// A lane whose callers receive their outcomes, from one job or several.
///
/// Synchronization: the lane is only read until the last job takes it, behind the mutex.
final class ServedLane: Sendable {
    private let lane: Mutex<AppendBatch?>
    private let left: Atomic<Int>

    init(_ lane: consuming AppendBatch, jobs: Int) {
        self.lane = Mutex(lane)
        left = Atomic(jobs)
    }

    /// Reports the outcomes to a share of the callers.
    /// - Returns: the lane when this was the last share.
    func complete(_ places: Range<Int>, firstRequest: Int) -> AppendBatch? {
        let copy = lane.withLock { $0 }
        copy?.complete(places, firstRequest: firstRequest)
        _ = consume copy
        guard left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return nil }
        return lane.withLock { $0.take() }
    }
}
