import Foundation
import Projections
import ProtobufWire
import TestKit
import Testing

@testable import MeshViews
@testable import ViewQuery

/// `views.proto` is what programs in other languages read the rows by.
///
/// `MESHLEDGER_WRITE=1` writes the fields of its messages as they are declared; their comments stay, and so do the types of fields that several make up a property.
struct DeclaredRows {
    private static let file = PackageRoot.url.appendingPathComponent("Sources/MeshViews/views.proto")

    /// The lines of a message of the file: `  optional sint32 rssi = 10;` and comments.
    private func lines(of message: String, in text: String) throws -> Range<String.Index> {
        let start = try #require(text.range(of: "message \(message) {\n"), "\(message)").upperBound
        return start..<(try #require(text.range(of: "}\n", range: start..<text.endIndex)).lowerBound)
    }

    private func snake(_ name: String) -> String {
        name.replacing(/([a-z0-9])([A-Z])/) { "\($0.1)_\($0.2)" }.lowercased()
    }

    /// The message's lines with the declared fields.
    private func declared<Row>(_ declaration: RowDeclaration<Row>, _ documented: Substring) -> String {
        var comments: [UInt32: Substring] = [:]
        var fields: [UInt32: (type: Substring, name: Substring, rest: Substring)] = [:]
        for field in documented.matches(of: /(?m)^((?:  \/\/.*\n)*)  ([\w ]+) (\w+) = (\d+)(.*)\n/) {
            let number = UInt32(field.4) ?? 0
            (comments[number], fields[number]) = (field.1, (field.2, field.3, field.5))
        }
        return declaration.schema.map { stored in
            let known = fields[stored.number]
            let isEnum = stored.type == "enum" && known?.type.first?.isUppercase == true
            let type = isEnum || stored.type.isEmpty ? String(known?.type ?? "") : stored.type
            let name = stored.type.isEmpty ? String(known?.name ?? "") : snake(stored.name)
            return "\(comments[stored.number] ?? "")  \(type) \(name) = \(stored.number)\(known?.rest ?? ";")\n"
        }.joined()
    }

    @Test func `the documented schema is the one by which rows are stored`() throws {
        var text = try String(contentsOf: Self.file, encoding: .utf8)
        let before = text
        func document<Row: DeclaredFields>(_: Row.Type) throws {
            let message = String("\(Row.self)".dropLast("Row".count)).replacing("UnknownTelemetry", with: "Telemetry")
            let range = try lines(of: message, in: text)
            text.replaceSubrange(range, with: declared(Row.declaration, text[range]))
        }
        let rows = ViewRegistry.rows.compactMap { $0 as? any DeclaredFields.Type }
        #expect(rows.count == ViewRegistry.rows.count - 3)  // channels and people's decisions are written by hand
        for row in rows { try document(row) }
        if ProcessInfo.processInfo.environment["MESHLEDGER_WRITE"] != nil { try Data(text.utf8).write(to: Self.file) }
        #expect(text == before, "if a changed field is meant: MESHLEDGER_WRITE=1 swift test --filter DeclaredRows")
    }

    @Test func `a field of another wire type is skipped like an unknown one, and a row that is cut anywhere is refused or read`()
        throws
    {
        var writer = WireWriter()
        writer.varint(2, 7)
        writer.varint(40, 9)
        writer.fixed32(8, 3)
        writer.fixed32(10, 5)
        writer.sint32(17, -80)
        writer.float(16, -3.25)
        writer.varint(1, 200)
        let row = try PositionRow(node: 1, time: 2, sequence: 3, decoding: writer.bytes.rawSpan)
        #expect(row.packetID == 0 && row.satellites == 0 && row.sentTime == 5 && row.rssi == -80 && row.snr == -3.25)
        #expect(row.timeSource == .arrival)
        let whole = PositionRow(node: 1, time: 2, sequence: 3)
        for count in 0..<writer.bytes.count {
            let bytes = Array(writer.bytes.prefix(count))
            let cut = try? PositionRow(node: 1, time: 2, sequence: 3, decoding: bytes.rawSpan)  // refused within a field
            #expect(cut == nil || cut != whole || count < 15)
        }
        #expect(throws: WireError.self) {
            try PositionRow(node: 1, time: 2, sequence: 3, decoding: ([0x85, 0x80] as [UInt8]).rawSpan)
        }
    }
}
