internal import LMDB

extension EventLog {
    /// Checks every event up to the head: its checksum, that no sequence is missing, and the index of arrival times.
    ///
    /// - Parameter progress: called after each batch of some thousand events; returning false ends the check early.
    public func verify(
        progress: (LogVerificationProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> LogVerification {
        let head = try beginRead().head.rawValue
        var result = LogVerification()
        var next: UInt64 = 1
        var tile = ArrivalRange()
        while next <= head {
            let last = min(next + 16_383, head)
            try verify(next...last, &tile, &result)
            next = last + 1
            guard progress(LogVerificationProgress(checked: Int(clamping: last), total: Int(clamping: head))) else { break }
        }
        return result
    }

    /// Checks a batch in one read transaction.
    private func verify(
        _ batch: ClosedRange<UInt64>, _ tile: inout ArrivalRange, _ result: inout LogVerification
    ) throws(EventLogError) {
        let reader = try beginRead()
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(EventSequence(batch.lowerBound))
        for sequence in batch {
            if isThere && cursor.sequence.rawValue == sequence {
                result.eventsChecked += 1
                result.payloadBytes += cursor.payload.byteCount
                if !cursor.isIntact { result.add(sequence, "its checksum does not match its bytes") }
                if let header = cursor.header { tile.include(header.arrivalTime.microseconds) }
                isThere = try cursor.next()
            } else {
                result.add(sequence, "it is missing")
                if !isThere { isThere = try cursor.seek(EventSequence(sequence + 1)) }
            }
            if sequence % LogStore.tileSize == 0 {
                let key = SequenceKey(sequence / LogStore.tileSize - 1)
                let stored = try storing { () throws(StorageError) -> ArrivalRange? in
                    guard let bytes = try reader.transaction.get(store.arrivals, key.span) else { return nil }
                    return ArrivalRange(bytes)
                }
                if stored != tile { result.add(sequence, "the index of arrival times does not fit the 256 events up to it") }
                tile = ArrivalRange()
            }
        }
    }
}
