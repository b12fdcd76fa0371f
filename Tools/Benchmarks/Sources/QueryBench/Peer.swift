import GRDB
import MeshLedger

/// A position as SQLite keeps it, with the columns of a `PositionRow`.
struct StoredPosition: FetchableRecord {
    var node: UInt32
    var time: UInt32
    var sequence: UInt64
    var timeSource: UInt8
    var packetID: UInt32
    var latitudeE7: Int32
    var longitudeE7: Int32
    var altitude: Int32?
    var groundSpeed: UInt32?
    var groundTrack: UInt32?
    var satellites: UInt32
    var precisionBits: UInt32
    var sentTime: UInt32
    var fixTime: UInt32
    var pdop: UInt32
    var hdop: UInt32
    var vdop: UInt32
    var gateway: UInt32
    var snr: Double
    var rssi: Int32?

    /// By position, which is the fastest way in GRDB.
    init(row: Row) {
        node = row[0]
        time = row[1]
        sequence = row[2]
        timeSource = row[3]
        packetID = row[4]
        latitudeE7 = row[5]
        longitudeE7 = row[6]
        altitude = row[7]
        groundSpeed = row[8]
        groundTrack = row[9]
        satellites = row[10]
        precisionBits = row[11]
        sentTime = row[12]
        fixTime = row[13]
        pdop = row[14]
        hdop = row[15]
        vdop = row[16]
        gateway = row[17]
        snr = row[18]
        rssi = row[19]
    }

    static let columns =
        "node, time, sequence, timeSource, packetID, latitudeE7, longitudeE7, altitude, groundSpeed, groundTrack, satellites, precisionBits, sentTime, fixTime, pdop, hdop, vdop, gateway, snr, rssi"
}

/// The same rows in SQLite, with the same key and the same index, read through GRDB.
func makePeer(_ path: String, _ rows: [PositionRow]) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -262144") }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.write { database in
        try database.execute(
            sql: "CREATE TABLE positions (\(StoredPosition.columns), PRIMARY KEY (node, time, sequence)) WITHOUT ROWID")
        try database.execute(sql: "CREATE INDEX byTime ON positions (time)")
        let marks = Array(repeating: "?", count: 20).joined(separator: ",")
        let insert = try database.makeStatement(sql: "INSERT INTO positions VALUES (\(marks))")
        for row in rows {
            let values: [(any DatabaseValueConvertible)?] = [
                row.node, row.time, Int64(row.sequence), row.timeSource.rawValue, row.packetID, row.latitudeE7, row.longitudeE7,
                row.altitude, row.groundSpeed, row.groundTrack, row.satellites, row.precisionBits, row.sentTime, row.fixTime,
                row.pdop, row.hdop, row.vdop, row.gateway, Double(row.snr), row.rssi,
            ]
            try insert.execute(arguments: StatementArguments(values))
        }
        try database.execute(sql: "ANALYZE")
    }
    return pool
}
