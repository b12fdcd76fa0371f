/// What became of an append.
enum AppendOutcome: Sendable {
    /// It is durable from this sequence on; 0 where nothing was to be stored. For a new source, its number.
    case stored(first: UInt64)
    indirect case failed(EventLogError)
}

/// One caller's append on its way to the writer.
struct AppendRequest: Sendable {
    enum Work: Sendable {
        case one(NewEvent)
        case many([NewEvent])
        case batch(EventBatch)
        case source(String)
    }

    /// What few appends carry.
    final class Extras: Sendable {
        let cursor: SourceCursor?
        let token: AppendToken?

        init?(cursor: SourceCursor?, token: AppendToken?) {
            guard cursor != nil || token != nil else { return nil }
            self.cursor = cursor
            self.token = token
        }
    }

    /// Safe: the writer completes each request exactly once.
    @safe enum Completion: Sendable {
        case task(UnsafeContinuation<AppendOutcome, Never>)
        case callback(@Sendable (AppendOutcome) -> Void)
    }

    let work: Work
    let extras: Extras?
    let arrival: Int64
    let completion: Completion

    func complete(_ outcome: AppendOutcome) {
        switch completion {
        case .task(let continuation): unsafe continuation.resume(returning: outcome)
        case .callback(let body): body(outcome)
        }
    }

    /// The number of events.
    var count: Int {
        switch work {
        case .one: 1
        case .many(let events): events.count
        case .batch(let batch): batch.count
        case .source: 0
        }
    }

    /// About the bytes that storing it takes.
    var size: Int {
        switch work {
        case .one(let event): event.payload.count + RecordHeader.size
        case .many(let events): events.reduce(0) { $0 + $1.payload.count + RecordHeader.size }
        case .batch(let batch): batch.byteCount + batch.count * RecordHeader.size
        case .source(let name): name.utf8.count
        }
    }
}
