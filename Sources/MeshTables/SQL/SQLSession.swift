internal import CSQLiteExtension
internal import Dispatch
internal import LMDB
internal import MeshLedger
internal import Projections
internal import Synchronization

/// The ledgers that one connection reads, and the snapshots that its statements see.
///
/// A statement, and others that overlap with it, read each view as of one point in time, as with SQLite's own tables.
///
/// Synchronization: one thread at a time uses a connection; a mutex guards the snapshots, which a timer ends.
@safe package final class SQLSession {
    @unsafe let connection: OpaquePointer
    /// The ledger for tables that do not name one.
    let ledger: Ledger?
    /// The folder of the ledger whose tables are in the connection's temporary schema.
    private var shown: String?
    private let opener: LedgerOpener
    private let snapshots = SnapshotBox()
    @unsafe private var running: [(statement: OpaquePointer, run: Int32)] = unsafe []
    private var openCursors = 0
    /// The last failure in a table, of which SQLite keeps only the text.
    var failure: (any Error)?
    private var views = StatementViews()

    @unsafe init(_ connection: OpaquePointer, _ ledger: Ledger?, _ opener: LedgerOpener) {
        unsafe self.connection = connection
        (self.ledger, self.shown, self.opener) = (ledger, ledger?.path, opener)
    }

    /// - Returns: the ledger, whose tables may be created in the temporary schema.
    func show(_ path: String) throws -> Ledger {
        let ledger = try ledger(at: path)
        if let shown, shown != ledger.path {
            throw SQLFailure(
                description:
                    "the connection has the tables of \(shown); for another ledger, name them: CREATE VIRTUAL TABLE … USING "
                    + "meshledger(\(SQLTables.quotedText(path)), 'TABLE')")
        }
        shown = ledger.path
        return ledger
    }

    /// - Parameter path: nil for the connection's own ledger.
    func ledger(at path: String?) throws -> Ledger {
        if let path { return try opener.ledger(at: path) }
        if let ledger { return ledger }
        throw SQLFailure(
            description:
                "no ledger is named: CREATE VIRTUAL TABLE … USING meshledger('FOLDER', …), SELECT meshledger_open('FOLDER'), or $MESHLEDGER"
        )
    }

    func past(of ledger: Ledger, _ moment: PointInTime) throws -> Ledger { try opener.past(of: ledger, moment) }

    /// Notes that a statement which is being prepared reads a view.
    func ask(_ view: String) { views.ask(view) }

    // MARK: Statements

    /// Notes that a cursor was opened. A statement's first cursor begins a new snapshot, unless another statement is still running.
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

    /// Ends the snapshot of the last statement, which has finished.
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

    func snapshot(of ledger: Ledger) throws -> SQLSnapshot {
        let statements = unsafe running.map { unsafe UInt(bitPattern: $0.statement) }
        return try snapshots.snapshot(of: ledger, unsafe views.read(by: statements, on: connection))
    }
}

/// The snapshots of one ledger.
final class SQLSnapshot {
    let ledger: Ledger
    /// Later events are ignored.
    let head: UInt64
    private var reads: [String: SQLView] = [:]

    init(_ ledger: Ledger) {
        self.ledger = ledger
        head = ledger.asOfSequence?.rawValue ?? ledger.log.head.rawValue
    }

    /// Begins the snapshots of the views that have none yet, all at the same event if that can be.
    func begin(_ views: Set<String>) throws {
        let missing = views.filter { reads[$0] == nil }
        guard missing.count > 1 else { return }
        for _ in 0..<5 {
            var checkpoints: Set<UInt64> = []
            for view in missing {
                reads[view] = nil
                guard let read = try? read(view) else { continue }  // reported when a statement reads it
                checkpoints.insert(try read.checkpoint())
            }
            if checkpoints.count <= 1 { return }
        }
    }

    func read(_ view: String) throws -> SQLView {
        if let known = reads[view] { return known }
        let made = try SQLView(ViewRead(ledger.store(of: view)))
        reads[view] = made
        return made
    }

    func checkpoint(of view: String) throws -> UInt64 { try read(view).checkpoint() }
}

/// Safe: the mutex guards everything; snapshots are used only between `use` and `endLater`, while the timer does not touch them.
private final class SnapshotBox: @unchecked Sendable {
    private struct State {
        var known: [ObjectIdentifier: SQLSnapshot] = [:]
        var isUsed = false
        var turn = 0
        /// Whether the timer runs: statements that follow each other share it.
        var isTimed = false
    }

    /// How long to wait for a statement that has closed all cursors to open the next one.
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
        let isTimed = lock.withLock { _ in
            state.isUsed = false
            defer { state.isTimed = true }
            return state.isTimed
        }
        if !isTimed { time() }
    }

    private func time() {
        let turn = lock.withLock { _ in state.turn }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.grace) { [weak self] in
            guard let self else { return }
            let isWanted = lock.withLock { _ in
                if !state.isUsed, state.turn == turn { state.known.removeAll() }
                state.isTimed = !state.isUsed && state.turn != turn
                return state.isTimed
            }
            if isWanted { time() }
        }
    }

    func snapshot(of ledger: Ledger, _ views: Set<String>) throws -> SQLSnapshot {
        try lock.withLock { _ in
            let snapshot = state.known[ObjectIdentifier(ledger)] ?? SQLSnapshot(ledger)
            state.known[ObjectIdentifier(ledger)] = snapshot
            try snapshot.begin(views)
            return snapshot
        }
    }
}
