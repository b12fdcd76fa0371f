import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// What gateways report to the public map about themselves: the newest report of each.
struct MapReportsView: KeyedView {
    let name = "mapreports"
    let version: UInt32 = 3
    let oldestReadableVersion: UInt32 = 2
    var policy: String { "cap=\(cap);\(TimePolicy.text)" }
    let cap: Int

    static let tables: [DeclaredTable] = [
        .rows(
            MapReportRow.self,
            ofPacket: .row { erasure, key, value in
                MapReportRow.decode(key: key, value: value).map { erasure.events.contains($0.sequence) } ?? false
            })
    ]
    var rows: KeyedRows<MapReportRow>

    init(cap: Int = 10_000) {
        self.cap = cap
        rows = KeyedRows(cap: cap)
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        batch.forEach(.mapReports, after: checkpoint) { packet, stamp in
            if packet.isReadable, packet.from != 0, packet.from != NodeID.broadcast { add(packet, stamp, batch, &context) }
        }
    }

    private mutating func add(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        let report: MapReport
        do {
            report = try MapReport(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view has put it into quarantine
        }
        let time = stamp.rowTime
        let isNewest: Bool
        let place: Int
        if let known = rows.place(of: UInt64(packet.from)) {
            place = known
            isNewest = time.latest >= rows[known].age
        } else {
            var row = MapReportRow(node: packet.from)
            (row.time, row.timeSource, row.firstTime, row.firstSequence) = (time.time, time.source, time.time, stamp.sequence)
            rows.insert(row)
            guard let made = rows.place(of: UInt64(packet.from)) else { return context.want(.debounced) }
            place = made
            isNewest = true
        }
        let channel = batch.channelName(stamp)
        rows.update(place) { row in
            if stamp.isFirstReadable { row.reports &+= 1 }
            let isOfImport = row.timeSource == .import
            if time.isKnown == !isOfImport {
                row.firstTime = min(row.firstTime, time.time)
            } else if isOfImport {
                row.firstTime = time.time
            }
            row.mostOnlineLocalNodes = max(row.mostOnlineLocalNodes, report.onlineLocalNodes)
            guard isNewest else { return }
            (row.time, row.timeSource, row.sequence, row.channel) = (time.time, time.source, stamp.sequence, channel)
            row.fill(from: report)
        }
        context.want(.debounced)
    }
}

extension MapReportRow {
    fileprivate mutating func fill(from report: MapReport) {
        longName = report.longName
        shortName = report.shortName
        role = report.role
        hardwareModel = report.hardwareModel
        firmware = report.firmwareVersion
        region = report.region
        modemPreset = report.modemPreset
        hasDefaultChannel = report.hasDefaultChannel
        let isPlaced =
            (report.latitudeE7 != 0 || report.longitudeE7 != 0)
            && PositionsView.isOnTheGlobe(report.latitudeE7, report.longitudeE7)
        latitudeE7 = isPlaced ? report.latitudeE7 : nil
        longitudeE7 = isPlaced ? report.longitudeE7 : nil
        altitude = report.altitude
        precisionBits = report.positionPrecision
        onlineLocalNodes = report.onlineLocalNodes
        hasOptedReportLocation = report.hasOptedReportLocation
    }
}
