import EventLog
import LMDB
import MeshViews
package import Projections
import ProtobufWire
import Synchronization

extension Ledger {
    /// The store of a view, or an error with what to do if it was never built.
    package func store(of view: String) throws(LedgerError) -> ViewStore {
        let definition = try definition(view)
        if let past { return try past.store(definition) }
        if let store = try builtStore(definition) { return store }
        do throws(StorageError) {
            try OwnedFile.require(served.folder(view).path + "/current")
        } catch {
            throw LedgerError(error, path: path)  // what is there instead keeps the view from being served
        }
        if let damage = try ViewBaselines.damage(of: log, views: [view]) { throw damage }
        if let reason = whyBeingBuilt(view) { throw LedgerError(.beingBuilt, path: path, reason) }
        throw LedgerError(
            .notBuilt, path: path,
            "the view \(view) of \(path) is not built yet; run `meshledger view rebuild` as a user who may write there")
    }

    /// Nil if no build is under way, which follows an erasure or is the view's first.
    private func whyBeingBuilt(_ view: String) -> String? {
        let isErased = (try? log.lastErasure()) ?? nil != nil  // unreadable: reading the log reports it
        guard isErased || !served.folder(view).recipes().isEmpty else { return nil }
        return
            "the view \(view) of \(path) is being rebuilt\(isErased ? " without what was erased" : ""); ask again when that is done, or, if no "
            + "process is doing it any more, run `meshledger view rebuild`"
    }

    /// Whether the view can be queried. A view that an earlier program did not know waits for the next opening for writing.
    func isBuilt(_ definition: ViewDefinition) throws(LedgerError) -> Bool {
        if past != nil { return true }
        return try builtStore(definition) != nil
    }

    /// Today's store of a view; nil before its first build.
    func builtStore(_ definition: ViewDefinition) throws(LedgerError) -> ViewStore? {
        guard !isClosed.load(ordering: .acquiring) else { throw .closed(path) }
        let store = try wrappingErrors { try served.store(definition) }
        if let store, isReadOnly { try checkLayout(of: store, definition) }
        return store
    }

    private func checkLayout(of store: ViewStore, _ definition: ViewDefinition) throws(LedgerError) {
        guard !definition.isCustom, !checkedLayouts.withLock({ $0.contains(store.path) }) else { return }
        if !served.folder(definition.name).isPinned {
            try definition.checkLayout(try? store.schema(), path: path)  // an error is reported when its rows are read
        }
        checkedLayouts.withLock { _ = $0.insert(store.path) }
    }

    func reading<Result>(
        _ view: String, _ body: (ViewStore) throws(StorageError) -> Result
    ) throws(LedgerError) -> Result {
        let store = try store(of: view)
        return try wrappingErrors { try body(store) }
    }

    /// Visits the rows of a series (all keys with this prefix, then time and sequence) that match the query.
    func visit(
        _ store: ViewStore, _ table: String, prefix: [UInt8], _ query: RowQuery, _ page: inout Page,
        _ visitor: (_ time: UInt32, _ sequence: UInt64, _ value: RawSpan) throws(StorageError) -> Void
    ) throws(StorageError) {
        try visit(SeriesSource(store: store, last: .max), table, prefix: prefix, query, &page, visitor)
    }

    typealias SeriesTest = (_ time: UInt32, _ sequence: UInt64, _ value: RawSpan) throws(StorageError) -> Bool

    func visit(
        _ source: SeriesSource, _ table: String, prefix: [UInt8], _ query: RowQuery, _ page: inout Page,
        where isWanted: SeriesTest? = nil,
        _ visitor: (_ time: UInt32, _ sequence: UInt64, _ value: RawSpan) throws(StorageError) -> Void
    ) throws(StorageError) {
        let store = source.store
        guard let seconds = query.seconds, !page.isFull else { return }
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(table))
        let low = prefix + bigEndian(seconds.lowerBound) + bigEndian(UInt64.min)
        let high = prefix + bigEndian(seconds.upperBound) + bigEndian(UInt64.max)
        var isThere = query.newestFirst ? try cursor.seek(atOrBefore: high.rawSpan) : try cursor.seek(atOrAfter: low.rawSpan)
        while isThere, !page.isFull, cursor.key.byteCount == prefix.count + 12, cursor.key.starts(with: prefix) {
            let time = cursor.key.bigEndianUInt32(at: prefix.count)
            guard seconds.contains(time) else { return }
            let sequence = cursor.key.bigEndianUInt64(at: prefix.count + 4)
            if sequence <= source.last, try isWanted?(time, sequence, cursor.value) ?? true, page.takes() {
                try visitor(time, sequence, cursor.value)
            }
            isThere = query.newestFirst ? try cursor.previous() : try cursor.next()
        }
    }
}

/// Turns a row that cannot be read into an error that names it.
func decoding<Row>(_ store: ViewStore, _ body: () throws(WireError) -> Row) throws(StorageError) -> Row {
    do throws(WireError) {
        return try body()
    } catch {
        throw StorageError(.malformedValue, call: "decode row", path: store.path)
    }
}
