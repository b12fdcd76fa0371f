internal import LMDB

/// Finds the appends that continue from a cursor which another append has moved.
enum CursorCheck {
    /// - Returns: the places of the requests of which nothing may be stored.
    static func overtaken(
        in group: LaneGroup, of lane: AppendBatch, _ write: borrowing WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> Set<Int> {
        var overtaken: Set<Int> = []
        // What the requests before, in the same transaction, leave behind.
        var moved: [String: [UInt8]] = [:]
        for place in group.requests {
            let request = lane.requests[place]
            guard let cursor = request.cursor else { continue }
            // A token says whether the events are there; where they are, the cursor has moved with them.
            if let expected = cursor.expected, request.token == nil {
                let table = Table<String, [UInt8]>(raw: store.cursors)
                var stored = moved[cursor.key]
                if stored == nil { stored = try write.get(table, cursor.key) }
                if SourceCursor.Stored(stored) != expected {
                    overtaken.insert(place)
                    continue
                }
            }
            moved[cursor.key] = cursor.value
        }
        return overtaken
    }
}
