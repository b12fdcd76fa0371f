public import ProtobufWire

/// A measurement of a kind of telemetry.
public struct MetricField: Sendable, Hashable {
    public let number: UInt32
    /// The name in the schema, such as `battery_level`.
    public let name: String
    public let kind: FieldKind
    public let isRepeated: Bool

    /// All fields of a kind, in order of their numbers.
    public static func all(for kind: TelemetryKind) -> [MetricField] { byKind[Int(kind.rawValue)] }

    private static let byKind = (UInt8.min...UInt8.max).map { number in
        (TelemetryKind(rawValue: number).map(fields) ?? []).map { MetricField($0) }
    }

    private static func fields(of kind: TelemetryKind) -> [FieldDescription] {
        let table = FieldTable.standard
        guard case .message(let place)? = table.message(named: "Telemetry")?.field(UInt32(kind.rawValue))?.kind else { return [] }
        return table.messages[place].fields
    }

    private init(_ field: FieldDescription) {
        number = field.number
        name = field.name
        kind = field.kind
        isRepeated = field.isRepeated
    }
}

/// A measured value. Floats are as measured: NaN and infinity occur.
public enum MetricValue: Sendable, Hashable {
    case integer(Int64)
    case unsigned(UInt64)
    case float(Float)
    case text(String)
    case list([Float])

    /// The number, for a list the last one; nil for a text.
    public var asDouble: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .float(let value): Double(value)
        case .list(let values): values.last.map { Double($0) }
        case .text: nil
        }
    }

    /// The value for programs; 64-bit numbers as numbers.
    public var json: JSONValue {
        switch self {
        case .integer(let value): .integer(value)
        case .unsigned(let value): .integer(value)
        case .float(let value): .float(value)
        case .text(let text): .string(text)
        case .list(let values): .array(values.map(JSONValue.float))
        }
    }

    /// The value for tables and CSV.
    public var text: String {
        switch self {
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .float(let value): "\(value)"
        case .text(let text): text
        case .list(let values): values.map { "\($0)" }.joined(separator: " ")
        }
    }
}

/// The measurements in a telemetry packet, including those of 0; absent ones stay absent.
///
/// ```swift
/// let metrics = try TelemetryMetrics(decoding: row.metrics.rawSpan, kind: .device)
/// metrics["battery_level"]?.asDouble
/// ```
public struct TelemetryMetrics: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public let field: MetricField
        public var value: MetricValue
    }

    public let kind: TelemetryKind
    /// In order of field numbers; each field once.
    public private(set) var values: [Entry] = []

    public subscript(name: String) -> MetricValue? { values.first { $0.field.name == name }?.value }

    /// - Parameters:
    ///   - bytes: the metrics submessage as received.
    ///   - kind: which metrics they are.
    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan, kind: TelemetryKind) throws(WireError) {
        self.kind = kind
        let fields = MetricField.all(for: kind)
        var reader = WireReader(bytes)
        var (place, isSorted) = (0, true)
        while let field = try reader.next() {
            // Fields mostly come in the order of their numbers, so each is looked for after the previous one.
            let number = field.number
            place = place < fields.count && fields[place].number < number ? place : 0
            while place < fields.count, fields[place].number < number { place += 1 }
            guard place < fields.count, fields[place].number == number, let value = Self.value(field, fields[place], bytes) else {
                continue
            }
            isSorted = isSorted && values.last.map { $0.field.number < number } ?? true
            if isSorted { values.append(Entry(field: fields[place], value: value)) } else { add(value, fields[place]) }
        }
        if !isSorted { values.sort { $0.field.number < $1.field.number } }
    }

    private mutating func add(_ value: MetricValue, _ field: MetricField) {
        guard let place = values.firstIndex(where: { $0.field.number == field.number }) else {
            values.append(Entry(field: field, value: value))
            return
        }
        if case .list(var all) = values[place].value, case .list(let new) = value {
            values[place].value = .list([])  // otherwise the list would be copied for each of its numbers
            all += new
            values[place].value = .list(all)
        } else {
            values[place].value = value
        }
    }

    /// Nil for an unknown field and for one with another wire type.
    private static func value(_ field: WireField, _ known: MetricField, _ bytes: RawSpan) -> MetricValue? {
        if known.isRepeated { return list(field, known, bytes) }
        guard field.type == known.kind.wireType else { return nil }
        return switch known.kind {
        case .float: .float(field.asFloat)
        case .uint32, .fixed32: .unsigned(UInt64(field.asUInt32))
        case .uint64, .fixed64: .unsigned(field.scalar)
        case .int32, .sfixed32, .enumeration: .integer(Int64(field.asInt32))
        case .int64, .sfixed64: .integer(field.asInt64)
        case .sint32: .integer(Int64(field.asSInt32))
        case .sint64: .integer(field.asSInt64)
        case .bool: .unsigned(field.asBool ? 1 : 0)
        case .double: .float(Float(field.asDouble))
        case .string: .text(bytes.bytes(field.range).asRepairedString)
        case .bytes, .message: nil
        }
    }

    /// The only repeated metrics are floats.
    private static func list(_ field: WireField, _ known: MetricField, _ bytes: RawSpan) -> MetricValue? {
        guard known.kind == .float else { return nil }
        if field.type == .fixed32 { return .list([field.asFloat]) }
        guard field.type == .lengthDelimited, field.range.count % 4 == 0 else { return nil }
        var reader = WireReader(bytes, in: field.range)
        var values: [Float] = []
        do throws(WireError) {
            while !reader.isAtEnd { values.append(Float(bitPattern: try reader.fixed32())) }
        } catch { return nil }
        return .list(values)
    }
}
