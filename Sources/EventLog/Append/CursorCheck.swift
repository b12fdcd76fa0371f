internal import LMDB

/// Finds appends that continue from a cursor that another append has moved.
enum CursorCheck {
    /// - Returns: the indices of the requests that must not be stored.
    static func overtaken(
        in group: LaneGroup, of lane: AppendBatch, _ write: borrowing WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> Set<Int> {
        var overtaken: Set<Int> = []
        // The cursors that earlier requests of the same transaction leave.
        var moved: [String: [UInt8]] = [:]
        for place in group.requests {
            let request = lane.requests[place]
            guard let cursor = request.cursor else { continue }
            // A token shows whether the events are there; if they are, the cursor has moved with them.
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
