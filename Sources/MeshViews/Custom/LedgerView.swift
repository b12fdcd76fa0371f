public import LMDB
public import Projections
public import ViewQuery

/// A custom view: a fold of decoded packets into rows. The ledger provides what its built-in views have: caps, checkpoints, quarantine, changes,
/// rebuilding, digests, queries, and `meshledger view NAME`.
///
/// ```swift
/// struct Loudness: LedgerView {
///     static let versions = [SchemaVersion(1)]
///     static let cap = RowCap<LoudnessRow>.total(10_000, by: \.packets)
///     func fold(_ event: MeshEvent, into rows: inout RowEditor<LoudnessRow>) throws {
///         try rows.update(LoudnessRow(node: event.packet.from)) { $0.packets += 1 }
///     }
/// }
///
/// var options = LedgerOptions()
/// options.views = [Loudness.self]
/// ```
/// The fold must be pure: its rows follow from the given events and from the rows that it made from earlier ones, never from a clock, a
/// file or random numbers.
public protocol LedgerView: Sendable {
    associatedtype Row: StoredRow

    /// All versions of the view from the first on; the last one is current. Add one whenever the same events would give other rows.
    static var versions: [SchemaVersion] { get }
    /// The maximum number of rows, and which row is evicted beyond it.
    static var cap: RowCap<Row> { get }
    /// The ports of the packets that the fold receives; nil for all.
    static var ports: Set<UInt32>? { get }
    /// Whether the fold receives every reception of a packet, including one that cannot be opened, instead of the first readable one.
    static var countsReceptions: Bool { get }

    init()

    /// Folds one event. If it throws, the event goes into the view's quarantine, and none of its changes are applied.
    func fold(_ event: MeshEvent, into rows: inout RowEditor<Row>) throws

    /// Folds a run of events, one after the other. There is a default; it is a requirement so that the compiler specializes its loop in the
    /// view's own module.
    ///
    /// - Throws: errors of the view's file.
    func fold(_ events: MeshEvents, into rows: inout RowEditor<Row>) throws(StorageError)
}

extension LedgerView {
    public static var ports: Set<UInt32>? { nil }
    public static var countsReceptions: Bool { false }

    @inlinable
    public func fold(_ events: MeshEvents, into rows: inout RowEditor<Row>) throws(StorageError) {
        var event = MeshEvent(batch: events.batch)
        for place in events.places.indices {
            event.index = Int(events.places[place])
            do {
                try fold(event, into: &rows)
            } catch {
                try rows.setAside(event, error)
            }
            try rows.apply()
        }
    }
}
