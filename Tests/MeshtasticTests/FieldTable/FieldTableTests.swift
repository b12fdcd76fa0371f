import Foundation
import Meshtastic
import TestKit
import Testing

@Suite struct FieldTableTests {
    private let table = FieldTable.standard

    @Test func `the whole schema is there`() {
        #expect(table.messages.count == 183)
        #expect(table.messages.reduce(0) { $0 + $1.fields.count } == 1279)
        #expect(table.enums.count == 86)
        #expect(table.enums.reduce(0) { $0 + $1.values.count } == 1010)
    }

    @Test(.enabled(if: OraclePython.path != nil || SharedFolder.exists, Comment(rawValue: OraclePython.need)))
    func `each field that the official package has, and the facts, is found by its number with its type`() throws {
        let newer =
            SharedFolder.exists
            ? Self.fields(in: try String(contentsOf: SharedFolder.file("wire/wire_facts.new.tsv"), encoding: .utf8)) : []
        let known = Set(newer.map { $0[2] + $0[4] })
        let older = Self.fields(in: try FactNames.lines(official: true).joined(separator: "\n")).filter {
            !known.contains($0[2] + $0[4])
        }
        #expect(newer.count + older.count > (SharedFolder.exists ? 1_100 : 900))
        for columns in newer + older {
            let message = try #require(table.message(named: columns[2]))
            let number = try #require(UInt32(columns[4]))
            let field = try #require(message.field(number), "\(columns[2]).\(columns[3])")
            #expect(field.name == columns[3])
            let isReference = columns[5] == "message" || columns[5] == "enum"
            #expect(field.typeName == (isReference ? columns[6].replacingOccurrences(of: "meshtastic.", with: "") : columns[5]))
            #expect(field.isRepeated == columns[8].hasPrefix("repeated"))
            #expect((field.oneof ?? "") == columns[10])
            // The older package has none of what is optional only since.
            if !columns[9].isEmpty { #expect((field.presence == .explicit) == (columns[9] == "explicit")) }
        }
    }

    private static func fields(in lines: String) -> [[String]] {
        lines.split(separator: "\n").filter { $0.hasPrefix("field\t") }
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }

    @Test func `what firmware 2-8-1 added is there, and what it removed still is`() {
        #expect(table.message(named: "ChannelSettings")?.field(8)?.name == "use_aead")
        #expect(table.message(named: "Routing")?.field(4)?.name == "ack_proof")
        #expect(table.message(named: "Telemetry")?.field(11)?.typeName == "SoilWaterMetrics")
        #expect(
            table.message(named: "LoRaWANBridge.Uplink")?.field(3)?.kind == .sint32
                && FieldTable.messageName(ofPort: 75) == "LoRaWANBridge")
        #expect(FieldTable.portName(38) == "PAGING_APP")
        let models = (147...150 as ClosedRange<UInt32>).map { FieldTable.hardwareName($0) }
        #expect(models == ["T_CONNECT_PRO", "AXIOMETA_GENESIS_MINI", "MAKERFABS_NOMAD_TERMINAL", "THINKNODE_MX"])
        // Recordings are older than any schema, and this field holds a channel's key.
        #expect(table.message(named: "ModuleConfig.MeshBeaconConfig")?.field(8)?.typeName == "ChannelSettings")
    }

    @Test func `numbers without a field give none`() {
        let packet = table.message(named: "meshtastic.MeshPacket")
        #expect(packet?.field(0) == nil && packet?.field(25) == nil && packet?.field(.max) == nil)
        #expect(table.message(named: "FromRadio")?.field(19)?.name == "region_presets")
    }

    @Test func `names of ports, hardware, roles and errors`() {
        #expect(FieldTable.portName(3) == "POSITION_APP" && FieldTable.portName(510) == nil && FieldTable.portName(.max) == nil)
        #expect(FieldTable.port(named: "telemetry") == 67 && FieldTable.port(named: "PRIVATE_APP") == 256)
        #expect(FieldTable.hardwareName(43) == "HELTEC_V3" && FieldTable.roleName(12) == "CLIENT_BASE")
        #expect(FieldTable.routingErrorName(0) == "NONE" && FieldTable.routingErrorName(33) == "NOT_AUTHORIZED")
    }

    @Test func `every message that a port names is in the table`() {
        for port in UInt32(0)...511 {
            if let name = FieldTable.messageName(ofPort: port) { #expect(table.message(named: name) != nil, "\(name)") }
        }
    }
}
