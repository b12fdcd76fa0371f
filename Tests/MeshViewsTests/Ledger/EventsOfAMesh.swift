import EventLog
import MeshCrypto
import MeshLedger
import Meshtastic
import ProtobufWire

/// Envelopes made field by field, for tests of one rule each.
struct MeshPacketBuilder {
    var from: UInt32 = 0x1000_0001
    var to: UInt32 = NodeID.broadcast
    var id: UInt32 = 1
    var rxTime: UInt32 = 1_780_000_000
    var port: UInt32 = Port.text
    var payload: [UInt8] = []
    var destination: UInt32 = 0
    var source: UInt32 = 0
    var requestID: UInt32 = 0
    var replyID: UInt32 = 0
    var emoji: UInt32 = 0
    var channel = "LongFast"
    var gateway = "!aabbccdd"
    var hopLimit: UInt32 = 0
    var hopStart: UInt32 = 0
    var snr: Float = 0
    var isViaMQTT = false
    var relayNode: UInt32 = 0
    var priority: UInt32 = 0
    var transport: UInt32 = 0

    private func write(to data: inout WireWriter) {
        data.varint(1, UInt64(port))
        data.bytes(2, payload)
        if destination != 0 { data.fixed32(4, destination) }
        if source != 0 { data.fixed32(5, source) }
        if requestID != 0 { data.fixed32(6, requestID) }
        if replyID != 0 { data.fixed32(7, replyID) }
        if emoji != 0 { data.fixed32(8, emoji) }
    }

    func envelope() -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, from)
            packet.fixed32(2, to)
            packet.message(4) { write(to: &$0) }
            packet.fixed32(6, id)
            if rxTime != 0 { packet.fixed32(7, rxTime) }
            if snr != 0 { packet.float(8, snr) }
            if hopLimit != 0 { packet.varint(9, UInt64(hopLimit)) }
            if priority != 0 { packet.varint(11, UInt64(priority)) }
            if isViaMQTT { packet.bool(14, true) }
            if hopStart != 0 { packet.varint(15, UInt64(hopStart)) }
            if relayNode != 0 { packet.varint(19, UInt64(relayNode)) }
            if transport != 0 { packet.varint(21, UInt64(transport)) }
        }
        writer.string(2, channel)
        writer.string(3, gateway)
        return writer.bytes
    }

    /// An envelope whose packet nobody can open.
    static func encrypted(from: UInt32, id: UInt32, hash: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, from)
            packet.fixed32(2, NodeID.broadcast)
            packet.varint(3, hash)
            packet.bytes(5, bytes)
            packet.fixed32(6, id)
        }
        writer.string(2, "Secret")
        writer.string(3, "!aabbccdd")
        return writer.bytes
    }

    /// The same packet under a channel's key.
    func encryptedEvent(_ key: ChannelKey, _ source: SourceID) throws -> NewEvent {
        var data = WireWriter()
        write(to: &data)
        var cipherText = [UInt8](repeating: 0, count: data.bytes.count)
        let cipher = try AESCTR(key: key.key)
        _ = unsafe data.bytes.withUnsafeBytes { plain in
            unsafe cipherText.withUnsafeMutableBytes {
                unsafe cipher.apply(iv: (UInt64(id), UInt64(from)), input: plain, output: $0)
            }
        }
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, from)
            packet.fixed32(2, to)
            packet.varint(3, UInt64(key.hash))
            packet.bytes(5, cipherText)
            packet.fixed32(6, id)
            packet.fixed32(7, rxTime)
        }
        writer.string(2, channel)
        writer.string(3, gateway)
        return NewEvent(
            writer.bytes, encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
            reception: .recorded(Timestamp(seconds: Int64(rxTime))))
    }

    func event(_ source: SourceID, at time: UInt32? = nil) -> NewEvent {
        NewEvent(
            envelope(), encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
            reception: .recorded(Timestamp(seconds: Int64(time ?? rxTime))))
    }

    static func position(_ latitude: Int32, _ longitude: Int32, precision: UInt32 = 32, time: UInt32 = 0) -> [UInt8] {
        var writer = WireWriter()
        writer.fixed32(1, UInt32(bitPattern: latitude))
        writer.fixed32(2, UInt32(bitPattern: longitude))
        if time != 0 { writer.fixed32(4, time) }
        writer.varint(23, UInt64(precision))
        return writer.bytes
    }

    static func user(_ name: String, key: [UInt8] = [], hardware: UInt32 = 0, role: UInt32 = 0) -> [UInt8] {
        var writer = WireWriter()
        writer.string(1, "!10000001")
        writer.string(2, name)
        writer.string(3, String(name.prefix(4)))
        if hardware != 0 { writer.varint(5, UInt64(hardware)) }
        if role != 0 { writer.varint(7, UInt64(role)) }
        if !key.isEmpty { writer.bytes(8, key) }
        return writer.bytes
    }

    static func mapReport(_ name: String, _ more: (inout MapReport) -> Void = { _ in }) -> [UInt8] {
        var report = MapReport()
        report.longName = name
        more(&report)
        var writer = WireWriter()
        report.encode(to: &writer)
        return writer.bytes
    }

    /// A waypoint of four fields; others in `more`.
    static func waypoint(
        _ id: UInt32, _ name: String = "", expire: UInt32 = 0, lockedTo: UInt32 = 0, _ more: (inout Waypoint) -> Void = { _ in }
    ) -> [UInt8] {
        var waypoint = Waypoint()
        (waypoint.id, waypoint.name, waypoint.expire, waypoint.lockedTo) = (id, name, expire, lockedTo)
        more(&waypoint)
        var writer = WireWriter()
        waypoint.encode(to: &writer)
        return writer.bytes
    }

    static func route(
        _ route: [UInt32] = [], _ towards: [Int32] = [], back: [UInt32] = [], _ snrBack: [Int32] = []
    ) -> [UInt8] {
        var discovery = RouteDiscovery()
        (discovery.route, discovery.snrTowards, discovery.routeBack, discovery.snrBack) = (route, towards, back, snrBack)
        var writer = WireWriter()
        discovery.encode(to: &writer)
        return writer.bytes
    }

    static func neighbors(of node: UInt32, _ neighbors: [(node: UInt32, snr: Float)]) -> [UInt8] {
        var info = NeighborInfo()
        info.node = node
        info.neighbors = neighbors.map { NeighborInfo.Neighbor(node: $0.node, snr: $0.snr) }
        var writer = WireWriter()
        info.encode(to: &writer)
        return writer.bytes
    }

    static func routing(error: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.varint(3, UInt64(error))
        return writer.bytes
    }
}

/// What a radio tells its client, made variant by variant.
enum RadioFrame {
    static func frame(_ variant: UInt32, _ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        writer.message(variant, body)
        return writer.bytes
    }

    static func myInfo(_ node: UInt32, target: String = "", reboots: UInt32 = 0) -> [UInt8] {
        var info = MyNodeInfo()
        (info.number, info.environment, info.rebootCount) = (node, target, reboots)
        return frame(3) { info.encode(to: &$0) }
    }

    /// What the radio knows of a node: its number (field 1) and its `User` (2).
    static func nodeInfo(_ node: UInt32, name: String, hardware: UInt32 = 0) -> [UInt8] {
        frame(4) { info in
            info.varint(1, UInt64(node))
            info.bytes(2, MeshPacketBuilder.user(name, hardware: hardware))
        }
    }

    static func metadata(_ firmware: String, hardware: UInt32, role: UInt32 = 0) -> [UInt8] {
        var metadata = DeviceMetadata()
        (metadata.firmwareVersion, metadata.hardwareModel, metadata.role) = (firmware, hardware, role)
        return frame(13) { metadata.encode(to: &$0) }
    }

    static func channel(_ index: Int32, _ name: String, psk: [UInt8]) -> [UInt8] {
        var channel = ChannelFrame()
        (channel.index, channel.name, channel.psk) = (index, name, psk)
        return frame(10) { channel.encode(to: &$0) }
    }

    /// A configuration of one number in a section.
    static func config(_ section: UInt32, _ field: UInt32, _ value: UInt64) -> [UInt8] {
        frame(5) { config in config.message(section) { $0.varint(field, value) } }
    }

    static func event(_ frame: [UInt8], _ source: SourceID, at time: UInt32) -> NewEvent {
        NewEvent(
            frame, encoding: PayloadEncoding(rawValue: CaptureForm.fromRadio.rawValue), source: source,
            reception: .recorded(Timestamp(seconds: Int64(time))))
    }
}

/// A ledger in memory with these packets folded.
func ledger(
    of packets: [MeshPacketBuilder], options: LedgerOptions = LedgerOptions()
) async throws -> Ledger {
    let ledger = try await Ledger.temporary(options: options)
    let source = try await ledger.log.source(named: "test")
    _ = try await ledger.log.append(packets.map { $0.event(source) })
    try await ledger.catchUp()
    return ledger
}
