internal import LMDB

extension EventLog {
    /// Seals all events except those of the last, incomplete tile of 256, and returns when that is durable.
    ///
    /// Sealed events take about a third of the space. Readers do not notice the difference.
    ///
    /// - Parameter progress: called on a thread of the log's choice after each step.
    /// - Throws: `.readOnly`, `.closed`, `.corrupt` at a record that is not as it was stored, `.diskFull`, `.sizeLimitReached`. What was
    ///   sealed before stays sealed.
    public func seal(progress: @escaping @Sendable (SealingProgress) -> Void = { _ in }) async throws(EventLogError) {
        guard let sealer else { throw EventLogError(.readOnly, path: path) }
        let target = board.head / LogStore.tileSize * LogStore.tileSize
        guard target > 0 else { return }
        sizes.beginMakingRoom()
        defer { sizes.endMakingRoom() }
        let failure = await withCheckedContinuation { waiter in
            sealer.add(SealRequest(target: target, progress: progress, waiter: waiter))
        }
        if let failure { throw failure }
    }

    /// How much is sealed, in constant time.
    /// - Throws: `.closed`, and errors of the file.
    public func sealingStatistics() throws(EventLogError) -> SealingStatistics {
        let store = try currentStore()
        return try storing { () throws(StorageError) in
            let read = try store.environment.beginRead()
            let extent = try store.extent(read)
            let (hot, sealed) = (try read.statistics(store.events), try read.statistics(store.sealed))
            let pageSize = try store.environment.info().pageSize
            return SealingStatistics(
                sealedEvents: extent.lastSealed - extent.cut, lastSealed: extent.lastSealed,
                hotEvents: extent.head - extent.lastSealed, blocks: sealed.entries,
                sealedBytes: sealed.pages * pageSize, hotBytes: hot.pages * pageSize)
        }
    }

    /// Why background sealing has stopped, nil if it has not.
    public var sealingProblem: EventLogError? { sealer?.problem }
}
