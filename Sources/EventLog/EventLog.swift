internal import LMDB
internal import Synchronization

/// The log of all events: appended, read and never changed.
///
/// ```swift
/// let log = try EventLog.create(at: "/srv/mesh.ledger")
/// let source = try await log.source(named: "mqtt://broker.example/msh")
/// let sequence = try await log.append(NewEvent(bytes, encoding: .note, source: source))
/// try log.withEvents(from: sequence, count: 1) { header, payload in print(header, payload.byteCount); return true }
/// await log.close()
/// ```
///
/// One process writes, any number read. When an append returns, its events are on disk. Events that arrive during a commit are
/// committed together by the next one.
///
/// Synchronization: the writer's thread owns everything that is written; callers reach it through `queue` and are notified through
/// `board`. Reading uses LMDB's own isolation.
public final class EventLog: Sendable {
    /// The ledger's folder.
    public let path: String
    /// 16 random bytes as hexadecimal digits, given when the log was created.
    public let identifier: String
    package let options: EventLogOptions
    let stores: StoreBox
    package var store: LogStore { stores.store }
    let queue: AppendQueue
    let board: HeadPublisher
    package let names: SourceNames
    let sizes: SizeGuard
    private let keeper: LogKeeper
    /// Opened when the writer's thread has ended and everything is closed.
    let end: Latch

    /// Nil if the log is read only.
    let driver: LogDriver?
    let sealer: Sealer?
    /// Rewrites the log while it is open; nil if it is read only.
    let maintenance: Maintenance?
    let dropper: Dropper?
    /// Nil if the log is read only or temporary, or uses the caller's clock.
    let watch: ClockWatch?
    /// Held while a reader switches to another generation.
    let following = Mutex(())
    let erasureFailure = Mutex<EventLogError?>(nil)
    /// Held while the log is read without LMDB's lock file.
    private let readerLock: ReaderLock?

    init(
        path: String, identifier: String, options: EventLogOptions, stores: StoreBox, queue: AppendQueue, board: HeadPublisher,
        names: SourceNames, sizes: SizeGuard, keeper: LogKeeper, driver: LogDriver?, sealer: Sealer?, maintenance: Maintenance?,
        dropper: Dropper?, watch: ClockWatch?,
        readerLock: ReaderLock?
    ) {
        self.path = path
        self.identifier = identifier
        self.options = options
        self.stores = stores
        self.queue = queue
        self.board = board
        self.names = names
        self.sizes = sizes
        self.keeper = keeper
        self.driver = driver
        self.sealer = sealer
        self.maintenance = maintenance
        self.dropper = dropper
        self.watch = watch
        self.readerLock = readerLock
        end = Latch()
    }

    deinit { queue.close() }

    public var isReadOnly: Bool { options.access == .readOnly }

    /// Whether no process can write to the ledger while this log is open, as when the reader has no write permission for the lock
    /// file. Its views can then be opened in the same way.
    package var excludesWriters: Bool { readerLock != nil }

    /// Whether its file is still the one at its path, so that nobody has moved, removed or replaced the ledger.
    package var isInPlace: Bool { store.environment.isInPlace }

    /// Whether a failed write has closed the log for appending: close and reopen it.
    public var areWritesClosed: Bool { store.environment.areWritesClosed }

    /// The last event's sequence. If another process writes, it is read from the file each time.
    public var head: EventSequence {
        guard isReadOnly else { return EventSequence(board.head) }
        do throws(EventLogError) {
            let last = try beginRead().head
            board.raise(last.rawValue)
            return last
        } catch {
            return EventSequence(board.head)
        }
    }

    /// The first event that can be read, unless the log is empty: 1, or the one after those that retention has dropped.
    public var first: EventSequence {
        if isReadOnly, let reader = try? beginRead() { return reader.first }  // unreadable: reading reports it
        return EventSequence(board.cut + 1)
    }

    /// Stores what is queued, then closes the files. Later appends throw `.closed`. Subscriptions end. A running erasure is
    /// finished first.
    public func close() async {
        await waitForErasure()
        queue.close()
        if isReadOnly {
            board.close()
            store.environment.close()
            readerLock?.release()
        } else {
            await end.wait()
        }
    }
}
