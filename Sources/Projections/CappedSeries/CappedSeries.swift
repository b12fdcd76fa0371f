import FlatCollections
package import ProtobufWire

/// Rows of many capped series (a node's positions, a node's metrics of one kind) that are pending until the next commit.
///
/// A row's key is the series' prefix, the row's time (4 bytes) and its sequence (8 bytes), all big-endian. Of each series
/// the newest rows by (time, sequence) stay, up to the cap: removing the lowest row after each one that exceeds the cap,
/// or after many at once, leaves the same rows, so the result does not depend on when a view was flushed.
package struct CappedSeries: Sendable {
    struct Row {
        var series: Int32
        var time: UInt32
        var sequence: UInt64
        var value: ValueChunks.Place
    }

    /// The tables of a store that have the rows and their counts.
    let (rowTable, countTable): (String, String)
    /// The bytes that precede a row's time, as an integer, and their number (at most 8).
    let prefixLength: Int
    let cap: Int
    /// Individual caps of the series whose prefixes begin with these four bytes.
    private var capOfNode: [UInt32: Int]
    private var places = FlatMap()
    private(set) var prefixes: [UInt64] = []
    private(set) var rows: [Row] = []
    private(set) var values = ValueChunks()
    private(set) var takenBack: [(prefix: UInt64, time: UInt32, sequence: UInt64)] = []
    /// The sequences of `takenBack`.
    private(set) var gone: Set<UInt64> = []
    /// How many more rows each series has than are stored.
    private var growth: [Int] = []
    /// The place of each pending row, by its sequence; maintained once a row has been superseded.
    var placesOfSequences: FlatMap?
    /// The last event that superseded a row of a series, by prefix.
    var superseded: [UInt64: UInt64] = [:]

    package init(rows: String, counts: String = "counts", prefixLength: Int, cap: Int, capOfNode: [UInt32: Int] = [:]) {
        precondition((4...8).contains(prefixLength) && cap > 0)
        (rowTable, countTable) = (rows, counts)
        self.prefixLength = prefixLength
        self.cap = cap
        self.capOfNode = capOfNode.mapValues { max($0, 1) }
    }

    func cap(of prefix: UInt64) -> Int {
        capOfNode.isEmpty ? cap : capOfNode[node(of: prefix)] ?? cap
    }

    /// The first four bytes of a prefix.
    func node(of prefix: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: prefix >> UInt64(8 * (prefixLength - 4))) }

    func cap(ofNode node: UInt32) -> Int { capOfNode[node] ?? cap }

    /// Sets the cap of a node's series before the first row; nil for the cap of all. Later: `changeCap`.
    package mutating func setCap(_ other: Int?, of node: UInt32) { capOfNode[node] = other.map { max($0, 1) } }

    package var isEmpty: Bool { rows.isEmpty }
    package var pendingBytes: Int { values.byteCount + rows.count * MemoryLayout<Row>.stride + prefixes.count * 40 }

    /// Takes back a pending row, by the place that `append` returned. Only for the newest row of a series, if another one replaces it, so that the
    /// rows left by the cap do not depend on when a view was flushed.
    package mutating func takeBack(_ place: Int) {
        growth[Int(rows[place].series)] -= 1
        rows[place].series = -1
    }

    /// Like `takeBack`, for a row that was stored by an earlier commit.
    package mutating func takeBack(prefix: UInt64, time: UInt32, sequence: UInt64) {
        growth[Int(series(of: prefix))] -= 1
        takenBack.append((prefix, time, sequence))
        gone.insert(sequence)
    }

    /// How many more rows the series has than are stored.
    func growth(of prefix: UInt64) -> Int { places[prefix].map { growth[Int($0)] } ?? 0 }

    @inline(__always)
    private mutating func series(of prefix: UInt64) -> Int32 {
        if let known = places[prefix] { return known }
        let series = Int32(prefixes.count)
        prefixes.append(prefix)
        growth.append(0)
        places.set(prefix, series)
        return series
    }

    /// Adds a row, whose value the closure writes.
    /// - Returns: the row's place until the next commit.
    @discardableResult
    @inline(__always)
    package mutating func append(
        prefix: UInt64, time: UInt32, sequence: UInt64, _ encode: (inout WireWriter) -> Void
    ) -> Int {
        let series = series(of: prefix)
        growth[Int(series)] += 1
        if placesOfSequences != nil { placesOfSequences?.set(sequence, Int32(rows.count)) }
        rows.append(Row(series: series, time: time, sequence: sequence, value: values.append(encode)))
        return rows.count - 1
    }

    package mutating func removeAll() {
        places = FlatMap()
        prefixes.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
        growth.removeAll(keepingCapacity: true)
        takenBack.removeAll()
        gone.removeAll()
        placesOfSequences = nil
        superseded.removeAll()
        values.removeAll()
    }
}
