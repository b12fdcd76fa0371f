internal import Meshtastic
internal import ProtobufWire
internal import TestKit

/// Makes well-formed messages of the schema from random numbers.
struct MessageMaker {
    static let depthLimit = 4

    /// A message with about half of its fields, in order, of each oneof at most one.
    static func make(_ description: MessageDescription, _ generator: inout SeededGenerator, depth: Int = 0) -> [UInt8] {
        var writer = WireWriter()
        var usedOneofs: Set<String> = []
        for field in chosen(description.fields, &generator) {
            if let oneof = field.oneof, !usedOneofs.insert(oneof).inserted { continue }
            if field.isRepeated {
                repeated(field, &writer, &generator, depth)
            } else {
                one(field, &writer, &generator, depth)
            }
        }
        return writer.bytes
    }

    /// At least one; of the members of oneofs, which come in a row, a random one is as likely as the next.
    private static func chosen(_ fields: [FieldDescription], _ generator: inout SeededGenerator) -> [FieldDescription] {
        let members = fields.filter { $0.oneof != nil }
        let member = members.randomElement(using: &generator)
        return fields.filter { field in field.oneof == nil ? generator.next() & 1 == 0 : field.number == member?.number }
    }

    private static func repeated(
        _ field: FieldDescription, _ writer: inout WireWriter, _ generator: inout SeededGenerator, _ depth: Int
    ) {
        let count = Int.random(in: 1...4, using: &generator)
        switch field.kind {
        case .fixed32, .sfixed32:
            writer.packedFixed32(field.number, (0..<count).map { _ in UInt32(truncatingIfNeeded: generator.next()) })
        case .float: writer.packedFloat(field.number, (0..<count).map { _ in float(&generator) })
        case .message, .string, .bytes: for _ in 0..<count { one(field, &writer, &generator, depth) }
        default: writer.packedVarint(field.number, (0..<count).map { _ in small(&generator) })
        }
    }

    private static func one(
        _ field: FieldDescription, _ writer: inout WireWriter, _ generator: inout SeededGenerator, _ depth: Int
    ) {
        let number = field.number
        switch field.kind {
        case .bool: writer.bool(number, generator.next() & 1 == 0)
        case .int32, .int64, .sint32, .sint64:
            writer.int64(number, Int64(bitPattern: generator.next()) >> Int64.random(in: 32...62, using: &generator))
        case .uint32: writer.uint32(number, UInt32(truncatingIfNeeded: small(&generator)))
        case .uint64: writer.varint(number, small(&generator))
        case .enumeration(let place):
            writer.int32(number, FieldTable.standard.enums[place].values.randomElement(using: &generator)?.number ?? 0)
        case .fixed32, .sfixed32: writer.fixed32(number, UInt32(truncatingIfNeeded: small(&generator)))
        case .fixed64, .sfixed64: writer.fixed64(number, generator.next())
        case .float: writer.float(number, float(&generator))
        case .double: writer.double(number, Double(float(&generator)))
        case .string: writer.string(number, text(&generator))
        case .bytes: writer.bytes(number, generator.bytes(Int.random(in: 0...32, using: &generator)))
        case .message(let place):
            let isDeep = depth >= depthLimit
            writer.bytes(number, isDeep ? [] : make(FieldTable.standard.messages[place], &generator, depth: depth + 1))
        }
    }

    /// Of any number of bits.
    private static func small(_ generator: inout SeededGenerator) -> UInt64 {
        generator.next() >> UInt64.random(in: 32...63, using: &generator)
    }

    private static func float(_ generator: inout SeededGenerator) -> Float {
        switch Int.random(in: 0..<16, using: &generator) {
        case 0: .nan
        case 1: .infinity
        case 2: -0.0
        default: Float.random(in: -500...500, using: &generator)
        }
    }

    static func text(_ generator: inout SeededGenerator) -> String {
        let words = ["hello", "mesh", "Żółw", "🐢", "seq 12", "{\"a\":1}", "1233", "", "\u{7}", "Straße 5", "null"]
        return (0..<Int.random(in: 1...4, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "" }.joined(
            separator: " ")
    }
}
