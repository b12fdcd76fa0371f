import Foundation
import Meshtastic
import ProtobufWire

/// Our packets beside the oracle's lines.
struct Comparison {
    var events = 0
    var readable = 0
    var invalid = 0
    var excused = 0
    var differences: [String] = []
    private let names: FactNames
    private let isDamaged: Bool

    init(of lines: [[UInt8]], with oracle: [Oracle.Line], isDamaged: Bool) throws {
        names = try FactNames()
        self.isDamaged = isDamaged
        guard lines.count == oracle.count else {
            differences.append("\(lines.count) events here, \(oracle.count) there")
            return
        }
        let form: CaptureForm = lines.first?.first == 0x0a ? .serviceEnvelope : .meshPacket
        let opener = PacketOpener(keyring: .standard)
        var batch = PacketBatch()
        for (index, bytes) in lines.enumerated() {
            batch.removeAll()
            opener.decode(bytes.rawSpan, form: form, into: &batch)
            let packet = batch.packets[0]
            events += 1
            if packet.isReadable { readable += 1 }
            if packet.opening == .invalid { invalid += 1 }
            guard let found = difference(packet, batch, oracle[index]) else { continue }
            if isExcused(packet, batch, bytes, oracle[index]) {
                excused += 1
            } else {
                differences.append("line \(index + 1): \(found) \(packet.failure?.reason ?? "")")
            }
        }
    }

    private func difference(_ packet: DecodedPacket, _ batch: PacketBatch, _ theirs: Oracle.Line) -> String? {
        if theirs.error != nil { return packet.opening == .invalid ? nil : "read here, refused there" }
        if packet.opening == .invalid, packet.failure?.kind != .missingPacket { return "refused here, read there" }
        guard packet.from == theirs.from, packet.to == theirs.to, packet.id == theirs.id, packet.channel == theirs.channel,
            packet.rxTime == theirs.rx_time
        else { return "the headers differ" }
        let how: String =
            switch packet.opening {
            case .decoded: packet.isReadable && packet.port <= Port.highest ? "decoded" : "opaque"
            case .channelKey: "AQ=="
            case .plaintext: "plaintext"
            case .opaque: "opaque"
            default: "empty"
            }
        guard how == theirs.how else { return "\(how) here, \(theirs.how ?? "") there" }
        guard packet.isReadable, how != "opaque" else { return nil }
        guard packet.port == theirs.portnum else { return "ports differ" }
        do {
            let bytes = batch.payload(of: packet)
            let printed = try Printed(port: packet.port, bytes, names) ?? .bytes(bytes.asArray)
            return printed.difference(from: theirs.payload, names)
        } catch { return "\(error)" }
    }

    /// Documented differences. Broken UTF-8 in names is repaired here. In damaged files also: what no encoder writes is not
    /// accepted here under a key that proves nothing.
    private func isExcused(_ packet: DecodedPacket, _ batch: PacketBatch, _ bytes: [UInt8], _ theirs: Oracle.Line) -> Bool {
        guard isDamaged else { return false }
        if packet.opening == .opaque, theirs.how == "AQ==" || theirs.how == "plaintext" { return true }
        if packet.failure?.kind == .malformedPayload, theirs.how == "decoded" { return isUnjudged(packet, batch, theirs) }
        guard theirs.error != nil || theirs.how == "opaque" else { return false }
        return hasBrokenName(bytes) || batch.string(packet.payload).contains("\u{fffd}")
    }

    /// Whether the oracle printed the payload as it came: it does not know the messages of all ports.
    private func isUnjudged(_ packet: DecodedPacket, _ batch: PacketBatch, _ theirs: Oracle.Line) -> Bool {
        Printed.bytes(batch.payload(of: packet).asArray).difference(from: theirs.payload, names) == nil
    }

    /// Whether the channel's or gateway's name in an envelope is not UTF-8.
    private func hasBrokenName(_ bytes: [UInt8]) -> Bool {
        var reader = WireReader(bytes.rawSpan)
        do throws(WireError) {
            while let field = try reader.next() {
                if field.tag == 0x12 || field.tag == 0x1a, !reader.bytes(field).isUTF8 { return true }
            }
        } catch { return false }
        return false
    }
}
