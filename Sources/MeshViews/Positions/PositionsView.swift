package import EventLog
package import LMDB
import Meshtastic
package import Projections
import ProtobufWire
import ViewQuery

/// Where each node was: the newest positions per node, up to a cap.
///
/// A packet makes one row, at its first readable reception, if it has both coordinates. Null island, including where reduced
/// precision has moved it, makes no row; coordinates outside the globe go to quarantine.
package struct PositionsView: CappedSeriesView {
    package let name = "positions"
    package let version: UInt32 = 3
    package var policy: String {
        var text = "cap=\(caps.positions);\(TimePolicy.text)\(favorites.text)"
        if case .within(let meters) = caps.positionDedupe { text += ";within=\(meters)" }
        if !caps.reducedPrecisionKeepsHistory { text += ";reduced=latest" }
        return text
    }
    package static let tables: [DeclaredTable] = [
        .rows(PositionRow.self, ofNode: .key, ofPacket: .secondField, countedIn: .ofSeries()),
        .state("counts", ofNode: .key, ofPacket: .nothing), FavoriteCaps.declaration,
    ]
    private let caps: ViewCaps
    package var favorites: FavoriteCaps
    package var series: CappedSeries
    /// The last place of each node, if a policy needs it.
    private var latest: [UInt32: LatestPosition] = [:]

    package init(cap: Int = 5_000) { self.init(ViewCaps(positions: cap)) }

    init(_ caps: ViewCaps) {
        self.caps = caps
        favorites = FavoriteCaps(caps, caps.positions, \.positions)
        series = CappedSeries(rows: "positions", prefixLength: 4, cap: caps.positions, capOfNode: favorites.ofNode)
    }

    private var isThinned: Bool { caps.thinsPositions }

    package mutating func load(_ store: ViewStore) throws(StorageError) {
        try loadSeries(store)
        if isThinned { try loadLatest(store) }
    }

    package mutating func fold(
        _ batch: MeshBatch, _ range: Range<Int>, after checkpoint: EventSequence, _ context: inout FoldContext
    ) throws(StorageError) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for index in range {
            guard packets[index].port == Port.position, stamps[index].makesRow,
                stamps[index].sequence > checkpoint.rawValue
            else { continue }
            try add(index, batch, &context)
        }
    }

    private mutating func add(_ index: Int, _ batch: MeshBatch, _ context: inout FoldContext) throws(StorageError) {
        let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
        let sequence = EventSequence(rawValue: stamp.sequence)
        let (node, time) = (UInt64(packet.from), stamp.time)
        if stamp.supersedes {
            guard !isThinned, let old = batch.superseded[index] else { return }
            try series.supersede(old, prefix: node, by: stamp.sequence, context.store)
            context.want(.debounced)
        }
        let position: Position
        do {
            position = try Position(decoding: batch.packets.payload(of: packet))
        } catch {
            return context.quarantine(sequence, reason: "position: \(error)")
        }
        guard let latitude = position.latitudeE7, let longitude = position.longitudeE7 else { return }
        guard Self.isOnTheGlobe(latitude, longitude) else {
            let place = "\(latitude), \(longitude) (degrees times 10,000,000)"
            return context.quarantine(sequence, reason: "the position \(place) is not on the globe")
        }
        guard !Self.isNullIsland(latitude, longitude, precisionBits: position.precisionBits) else { return }
        var row = PositionRow(node: packet.from, time: time, sequence: stamp.sequence)
        row.timeSource = stamp.timeSource
        row.fill(from: position, latitude, longitude)
        row.fill(from: packet)
        if isThinned { takeOver(&row) }
        let place = series.append(prefix: node, time: time, sequence: stamp.sequence) { row.encode(to: &$0) }
        if isThinned, time >= latest[row.node]?.row.time ?? 0 { latest[row.node] = LatestPosition(row: row, place: place) }
        context.want(.debounced)
    }

    static func isOnTheGlobe(_ latitude: Int32, _ longitude: Int32) -> Bool {
        (-900_000_000...900_000_000).contains(latitude) && (-1_800_000_000...1_800_000_000).contains(longitude)
    }

    /// A fix of (0, 0) means that there is no fix. Reduced to p bits it arrives as (2^(31-p), 2^(31-p)).
    static func isNullIsland(_ latitude: Int32, _ longitude: Int32, precisionBits: UInt32) -> Bool {
        if latitude == 0 && longitude == 0 { return true }
        guard latitude == longitude, (1...31).contains(precisionBits) else { return false }
        return latitude == Int32(1) << Int32(31 - precisionBits)
    }

    package mutating func committed() {
        committedSeries()
        for node in latest.keys { latest[node]?.place = nil }
    }
}

/// The newest position of a node, and its index among the pending rows.
private struct LatestPosition {
    var row: PositionRow
    var place: Int?
}

extension PositionsView {
    private mutating func loadLatest(_ store: ViewStore) throws(StorageError) {
        latest = [:]
        let transaction = try store.environment.beginRead()
        var nodes = try transaction.cursor(store.table("counts"))
        var cursor = try transaction.cursor(store.table("positions"))
        while try nodes.next() {
            let prefix = nodes.key.asArray
            guard prefix.count == 4 else { continue }
            let last = prefix + [UInt8](repeating: .max, count: 12)
            guard try cursor.seek(atOrBefore: last.rawSpan), cursor.key.starts(with: prefix),
                let row = PositionRow(key: cursor.key, value: cursor.value)
            else { continue }
            latest[row.node] = LatestPosition(row: row, place: nil)
        }
    }

    /// Replaces the latest row if the policy requires it.
    private mutating func takeOver(_ row: inout PositionRow) {
        guard let known = latest[row.node], row.time >= known.row.time else { return }
        let areReduced = known.row.precision != nil && row.precision != nil
        var isNear = false
        if case .within(let meters) = caps.positionDedupe { isNear = known.row.distance(to: row) <= meters }
        guard isNear || (areReduced && !caps.reducedPrecisionKeepsHistory) else { return }
        if isNear {
            // The first place of a stay counts; otherwise a slowly moving node would never leave.
            (row.latitudeE7, row.longitudeE7) = (known.row.latitudeE7, known.row.longitudeE7)
            row.since = known.row.since != 0 ? known.row.since : known.row.time
        }
        if let place = known.place {
            series.takeBack(place)
        } else {
            series.takeBack(prefix: UInt64(row.node), time: known.row.time, sequence: known.row.sequence)
        }
    }
}

extension PositionRow {
    fileprivate mutating func fill(from position: Position, _ latitude: Int32, _ longitude: Int32) {
        latitudeE7 = latitude
        longitudeE7 = longitude
        altitude = position.altitude
        groundSpeed = position.groundSpeed
        groundTrack = position.groundTrack
        satellites = position.satellites
        precisionBits = position.precisionBits
        sentTime = position.time
        fixTime = position.timestamp
        pdop = position.pdop
        hdop = position.hdop
        vdop = position.vdop
    }

    fileprivate mutating func fill(from packet: DecodedPacket) {
        packetID = packet.id
        gateway = packet.gateway
        snr = packet.rxSNR
        rssi = packet.hasRSSI ? packet.rxRSSI : nil
    }
}
