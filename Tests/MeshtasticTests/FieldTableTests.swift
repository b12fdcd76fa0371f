import Foundation
import Meshtastic
import TestKit
import Testing

@Suite struct FieldTableTests {
    private let table = FieldTable.standard

    @Test func `the whole schema is there`() {
        #expect(table.messages.count == 176)
        #expect(table.messages.reduce(0) { $0 + $1.fields.count } == 1222)
        #expect(table.enums.count == 83)
        #expect(table.enums.reduce(0) { $0 + $1.values.count } == 979)
    }

    @Test(.enabled(if: OraclePython.path != nil || SharedFolder.exists, Comment(rawValue: OraclePython.need)))
    func `each field that the official package has, and the facts, is found by its number with its type`() throws {
        let lines = try FactNames.lines(official: true)
        #expect(lines.count > 1_500)
        for line in lines where line.hasPrefix("field\t") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
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

    @Test func `numbers without a field give none`() {
        let packet = table.message(named: "meshtastic.MeshPacket")
        #expect(packet?.field(0) == nil && packet?.field(23) == nil && packet?.field(.max) == nil)
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
