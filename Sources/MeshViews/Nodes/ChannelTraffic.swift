import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// The traffic of each channel, readable or not.
struct ChannelTraffic: Sendable {
    /// More channels are counted together, so that invented names cannot fill the view.
    static let mostChannels = 1_024
    static let others = ChannelIdentity(name: "(others)", keyFingerprint: 0)

    private var rows: [ChannelRow] = []
    private var places: [ChannelIdentity: Int] = [:]
    private var dirty: [Int] = []
    private var isDirty: [Bool] = []
    private var batchChannels: [ChannelIdentity] = []
    private var batchPlaces: [Int] = []

    var pendingCount: Int { dirty.count }

    /// Prepares for a batch by looking up each of its channel numbers once.
    mutating func begin(_ channels: [ChannelIdentity]) {
        batchChannels = channels
        batchPlaces = Array(repeating: -1, count: channels.count)
    }

    @inline(__always)
    mutating func count(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, heard: RowTime) {
        let index = Int(stamp.channel)
        guard index >= 0 && index < batchPlaces.count else { return }
        if batchPlaces[index] < 0 { batchPlaces[index] = place(of: batchChannels[index]) }
        let place = batchPlaces[index]
        rows[place].count(packet, stamp, heard: heard)
        if !isDirty[place] {
            isDirty[place] = true
            dirty.append(place)
        }
    }

    private mutating func place(of channel: ChannelIdentity) -> Int {
        if let known = places[channel] { return known }
        if rows.count >= Self.mostChannels, channel != Self.others { return place(of: Self.others) }
        append(ChannelRow(channel: channel))
        return rows.count - 1
    }

    private mutating func append(_ row: ChannelRow) {
        places[row.channel] = rows.count
        rows.append(row)
        isDirty.append(false)
    }

    mutating func load(_ transaction: borrowing ReadTransaction, _ table: RawTable) throws(StorageError) {
        var cursor = try transaction.cursor(table)
        var isRow = try cursor.first()
        while isRow {
            if let row = ChannelRow.decode(cursor.value) { append(row) }
            isRow = try cursor.next()
        }
    }

    func write(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        for place in dirty.sorted() {
            var writer = WireWriter()
            rows[place].encode(to: &writer)
            try transaction.put(table, key: rows[place].key.rawSpan, value: writer.bytes.rawSpan)
        }
    }

    mutating func committed() {
        for place in dirty { isDirty[place] = false }
        dirty.removeAll(keepingCapacity: true)
    }
}

extension ChannelRow {
    @inline(__always)
    fileprivate mutating func count(_ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, heard: RowTime) {
        if firstSequence == 0 { firstSequence = stamp.sequence }
        if stamp.counts(packet) { receptions &+= 1 }
        if stamp.isFirstReception { packets &+= 1 }
        heard.widen(&firstHeard, &lastHeard, &isTimeOfImport)
        lastSequence = stamp.sequence
        if packet.opening == .channelKey || packet.opening == .plaintext, stamp.heard >= hashTime {
            (hash, hashTime) = (packet.channel, stamp.heard)
        }
    }
}
