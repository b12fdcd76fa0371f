internal import CSQLiteExtension
internal import Dispatch
internal import LMDB
internal import MeshLedger
internal import Projections
internal import Synchronization

/// The ledgers that one connection reads, and what its statements see of them.
///
/// A statement reads each view as of one point in time, and so do others that run meanwhile, as with SQLite's own tables.
///
/// Synchronization: a connection is used by one thread at a time; the snapshots, which a timer ends, are behind a mutex.
@safe package final class SQLSession {
    @unsafe let connection: OpaquePointer
    /// The ledger of tables that name none.
    let ledger: Ledger?
    private let opener: LedgerOpener
    private let snapshots = SnapshotBox()
    @unsafe private var running: [(statement: OpaquePointer, run: Int32)] = unsafe []
    private var openCursors = 0
    /// What last failed in a table: SQLite keeps only its text.
    var failure: (any Error)?
    /// The views that statements of this connection have asked, which begin to be read together.
    private(set) var asked: Set<String> = []

    @unsafe init(_ connection: OpaquePointer, _ ledger: Ledger?, _ opener: LedgerOpener) {
        unsafe self.connection = connection
        (self.ledger, self.opener) = (ledger, opener)
    }

    /// - Parameter path: nil for the connection's own.
    func ledger(at path: String?) throws -> Ledger {
        if let path { return try opener.ledger(at: path) }
        if let ledger { return ledger }
        throw SQLFailure(
            description:
                "no ledger is named: CREATE VIRTUAL TABLE … USING meshledger('FOLDER', …), SELECT meshledger_open('FOLDER'), or $MESHLEDGER"
        )
    }

    func past(of ledger: Ledger, _ moment: PointInTime) throws -> Ledger { try opener.past(of: ledger, moment) }

    func ask(_ view: String) { asked.insert(view) }

    // MARK: Statements

    /// A cursor was opened. The first one of a statement begins a new snapshot, unless another statement still runs.
    func enter() {
        openCursors += 1
        let now = unsafe busy()
        let isSame = unsafe running.contains { known in
            unsafe now.contains { unsafe $0.statement == known.statement && $0.run == known.run }
        }
        if !isSame { snapshots.end() }
        unsafe running = now
        snapshots.use()
    }

    func leave() {
        openCursors -= 1
        if openCursors == 0 { snapshots.endLater() }
    }

    /// Ends what the last statement saw: it is over.
    package func endStatement() {
        guard openCursors == 0 else { return }
        unsafe running = []
        snapshots.end()
    }

    private func busy() -> [(statement: OpaquePointer, run: Int32)] {
        var found: [(statement: OpaquePointer, run: Int32)] = unsafe []
        var next = unsafe sql_next_statement(connection, nil)
        while let statement = unsafe next {
            if unsafe sql_is_busy(statement) != 0 { unsafe found.append((statement, sql_runs(statement))) }
            unsafe next = sql_next_statement(connection, statement)
        }
        return unsafe found
    }

    func snapshot(of ledger: Ledger) throws -> SQLSnapshot { try snapshots.snapshot(of: ledger, asked) }
}

/// What is read of one ledger.
final class SQLSnapshot {
    final class Read {
        let store: ViewStore
        let transaction: ReadTransaction

        init(_ store: ViewStore) throws(StorageError) {
            self.store = store
            transaction = try store.environment.beginRead()
        }
    }

    let ledger: Ledger
    /// Later events are not seen.
    let head: UInt64
    private var reads: [String: Read] = [:]

    /// - Parameter views: begin to be read together, if that can be had at the same event.
    init(_ ledger: Ledger, _ views: Set<String>) throws {
        self.ledger = ledger
        head = ledger.asOfSequence?.rawValue ?? ledger.log.head.rawValue
        guard views.count > 1 else { return }
        for _ in 0..<5 {
            reads.removeAll()
            var checkpoints: Set<UInt64> = []
            for view in views {
                guard let read = try? read(view) else { continue }  // reported where it is asked for
                checkpoints.insert(try read.store.checkpoint(in: read.transaction).sequence)
            }
            if checkpoints.count <= 1 { return }
        }
    }

    func read(_ view: String) throws -> Read {
        if let known = reads[view] { return known }
        let made = try Read(ledger.store(of: view))
        reads[view] = made
        return made
    }

    func checkpoint(of view: String) throws -> UInt64 {
        let read = try read(view)
        return try read.store.checkpoint(in: read.transaction).sequence
    }
}

/// Safe: everything is behind the mutex; snapshots are used only between `use` and `endLater`, when the timer leaves them alone.
private final class SnapshotBox: @unchecked Sendable {
    private struct State {
        var known: [ObjectIdentifier: SQLSnapshot] = [:]
        var isUsed = false
        var turn = 0
    }

    /// How long a statement that has closed all cursors may be about to open the next one.
    private static let grace = 0.25

    private let lock = Mutex(())
    private var state = State()

    func use() {
        lock.withLock { _ in
            state.isUsed = true
            state.turn &+= 1
        }
    }

    func end() { lock.withLock { _ in state.known.removeAll() } }

    func endLater() {
        let turn = lock.withLock { _ in
            state.isUsed = false
            return state.turn
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.grace) { [weak self] in
            guard let self else { return }
            lock.withLock { _ in
                if !state.isUsed, state.turn == turn { state.known.removeAll() }
            }
        }
    }

    func snapshot(of ledger: Ledger, _ views: Set<String>) throws -> SQLSnapshot {
        try lock.withLock { _ in
            if let known = state.known[ObjectIdentifier(ledger)] { return known }
            let made = try SQLSnapshot(ledger, views)
            state.known[ObjectIdentifier(ledger)] = made
            return made
        }
    }
}
