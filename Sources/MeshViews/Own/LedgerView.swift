public import Projections
public import ViewQuery

/// A view of one's own: a fold of decoded packets into rows. The ledger gives it what its own views have: caps, checkpoints, quarantine, changes,
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
/// The fold must be pure: its rows follow from the events that it is given and from the rows that it made of earlier ones, never from a clock, a
/// file or chance.
public protocol LedgerView: Sendable {
    associatedtype Row: StoredRow

    /// All versions of the view from the first on; the last one is this one. Raised whenever the same events would give other rows.
    static var versions: [SchemaVersion] { get }
    /// The most rows, and which one goes when there are more.
    static var cap: RowCap<Row> { get }
    /// The ports of the packets that the fold is given; nil for all.
    static var ports: Set<UInt32>? { get }
    /// Whether the fold is given every reception of a packet, also of one that cannot be opened, instead of the first one that can be read.
    static var countsReceptions: Bool { get }

    init()

    /// Folds one event. What it throws puts the event into the view's quarantine, and nothing is changed by it.
    func fold(_ event: MeshEvent, into rows: inout RowEditor<Row>) throws
}

extension LedgerView {
    public static var ports: Set<UInt32>? { nil }
    public static var countsReceptions: Bool { false }
}
