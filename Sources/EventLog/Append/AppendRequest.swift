/// The outcome of an append.
enum AppendOutcome: Sendable {
    /// Stored durably, from this sequence on; 0 if there was nothing to store. For a new source, its number.
    case stored(first: UInt64)
    indirect case failed(EventLogError)
}

/// One caller's append on its way to the writer, unless it is a small single event.
struct AppendRequest: Sendable {
    enum Work: Sendable {
        case one(NewEvent)
        case many([NewEvent])
        case batch(EventBatch)
        case source(String)
        case cut(LogCut)

        /// Whether it adds events; a request without events only waits.
        var isMutation: Bool {
            switch self {
            case .one, .cut: true
            case .many(let events): !events.isEmpty
            case .batch(let batch): batch.count > 0
            case .source: false
            }
        }
    }

    /// Safe: each request is completed exactly once.
    @safe enum Completion: Sendable {
        case task(UnsafeContinuation<UInt64, any Error>)
        case callback(@Sendable (AppendOutcome) -> Void)
    }

    let work: Work
    let cursor: SourceCursor?
    let token: AppendToken?
    let arrival: Int64
    let completion: Completion

    func complete(_ outcome: AppendOutcome) {
        switch (completion, outcome) {
        case (.task(let continuation), .stored(let first)): unsafe continuation.resume(returning: first)
        case (.task(let continuation), .failed(let error)): unsafe continuation.resume(throwing: error)
        case (.callback(let body), _): body(outcome)
        }
    }

    /// Whether its events are those that the log writes about itself.
    var isOfLog: Bool {
        switch work {
        case .one(let event): event.isOfLog
        case .many(let events): events.allSatisfy(\.isOfLog)
        case .cut: true
        case .batch, .source: false
        }
    }

    /// The number of events.
    var count: Int {
        switch work {
        case .one, .cut: 1
        case .many(let events): events.count
        case .batch(let batch): batch.count
        case .source: 0
        }
    }

    /// The approximate number of bytes that storing it takes.
    var size: Int {
        switch work {
        case .one(let event): event.payload.count + RecordHeader.size
        case .many(let events): events.reduce(0) { $0 + $1.payload.count + RecordHeader.size }
        case .batch(let batch): batch.byteCount + batch.count * RecordHeader.size
        case .source(let name): name.utf8.count
        case .cut(let cut): cut.event.payload.count + RecordHeader.size + cut.nodes.count * 64
        }
    }

    /// Identifies this append by the record that its first event would become. Nil if it has no events.
    func token(first: UInt64) -> AppendToken? {
        switch work {
        case .one(let event): return token(RecordHeader(event), event.payload, first)
        case .cut(let cut): return token(RecordHeader(cut.event), cut.event.payload, first)
        case .many(let events): return events.first.map { token(RecordHeader($0), $0.payload, first) }
        case .batch(let batch):
            return batch.entries.first.map { token($0.header, Array(batch.bytes[..<$0.end]), first) }
        case .source: return nil
        }
    }

    private func token(_ header: RecordHeader, _ payload: [UInt8], _ sequence: UInt64) -> AppendToken {
        let checksum = Record.checksum(header, arrival: arrival, payload: payload.span.rawBytes, sequence: sequence)
        return AppendToken(first: sequence, checksum: checksum)
    }
}
