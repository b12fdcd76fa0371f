package import ProtobufWire

/// Defines in one list how the rows of one of the ledger's built-in tables are stored: the columns, and what is stored besides.
///
/// ```swift
/// static let declaration = RowDeclaration<HardwareRow>([
///     RowColumn(key: "model", \.model) { $0.model },
///     RowColumn(key: "node", \.node) { $0.node }.shown(as: .node).naming(.owner),
///     RowColumn(1, "time", \.time, as: .fixed32, .time),
/// ])
/// ```
package struct RowDeclaration<Row>: Sendable {
    /// Excludes properties that are only stored.
    package let columns: [RowColumn<Row>]
    /// In the order of their numbers.
    private let fields: [RowField<Row>]
    /// Plain fields that follow each other, and the place of the other field after them.
    private let runs: [(plain: [PlainField], other: Int?)]
    /// By tag: where a number goes.
    private let tagged: [TaggedField]
    /// By number: where any other field goes.
    private let targets: [FieldTarget]
    private let nodes: [RowColumn<Row>]
    /// In bytes.
    package let keyLength: Int
    /// The stored fields as a `.proto` file has them, by their numbers; the type is empty if several make up one property.
    package let schema: [(number: UInt32, name: String, type: String)]

    package init(_ declared: [RowColumn<Row>]) {
        columns = declared.filter { !$0.traits.isHidden }
        let fields = declared.flatMap(\.traits.wire).sorted { $0.number < $1.number }
        self.fields = fields
        var runs: [(plain: [PlainField], other: Int?)] = [([], nil)]
        for (place, field) in fields.enumerated() {
            if let plain = field.plain {
                runs[runs.count - 1].plain.append(plain)
            } else {
                runs[runs.count - 1].other = place
                runs.append(([], nil))
            }
        }
        self.runs = runs
        var targets = [FieldTarget](repeating: .nothing, count: Int(fields.last?.number ?? 0) + 1)
        for (place, field) in fields.enumerated() {
            if let plain = field.plain, field.number <= TaggedField.largest {
                if plain.isReference { targets[Int(field.number)] = .reference(plain) }
            } else {
                targets[Int(field.number)] = .other(place)
            }
        }
        self.targets = targets
        tagged = TaggedField.all(fields.compactMap(\.plain))
        nodes = declared.filter { $0.traits.naming != nil }
        keyLength = declared.reduce(0) { $0 + $1.keyLength }
        schema = declared.flatMap { column in column.traits.wire.map { ($0.number, column.name, $0.layout) } }
            .sorted { $0.0 < $1.0 }
    }

    package func write(_ row: borrowing Row, to writer: inout WireWriter) {
        unsafe withUnsafeBytes(of: row) { bytes in
            guard let start = bytes.baseAddress else { return }
            for run in runs {
                unsafe PlainField.write(run.plain, start, to: &writer)
                if let place = run.other { unsafe fields[place].write(start.assumingMemoryBound(to: Row.self).pointee, &writer) }
            }
        }
    }

    package func take(_ row: inout Row, from bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        unsafe try withUnsafeMutablePointer(to: &row) { (row) throws(WireError) in
            let start = UnsafeMutableRawPointer(row)
            let (targets, tagged) = (targets.span, tagged.span)
            while true {
                let (tag, length) = reader.shortTag
                if tag < tagged.count, tagged[Int(tag)].step != .other {
                    reader.skipTag(length)
                    unsafe try tagged[Int(tag)].take(&reader, into: start)
                    continue
                }
                guard let field = try reader.next() else { return }
                let number = Int(field.number)
                guard number < targets.count else { continue }
                switch targets[number] {
                case .nothing: continue
                case .reference(let plain): unsafe try plain.take(field, reader, into: start)
                case .other(let place): unsafe try fields[place].take(&row.pointee, field, reader, true)
                }
            }
        }
    }

    package var namesNodes: Bool { !nodes.isEmpty }

    /// Whether a property names the node: as the row's owner or, if mentions count as well, in a mention.
    package func names(_ node: UInt32, in row: Row, includesMentions: Bool) -> Bool {
        nodes.contains { column in
            guard column.traits.naming == .owner || includesMentions else { return false }
            let value = column.value(in: row)
            return value as? UInt32 == node || (value as? [UInt32])?.contains(node) ?? false
        }
    }
}

/// Where a stored field goes.
private enum FieldTarget: Sendable {
    /// Nowhere, or as `TaggedField` says.
    case nothing
    case reference(PlainField)
    /// Its place among the fields.
    case other(Int)
}

extension RowColumn {
    /// A property that is stored under a number, which is never used again for another one.
    package init<Value: Sendable>(
        _ number: UInt32, _ name: String, _ keyPath: any WritableKeyPath<Row, Value> & Sendable, as form: WireForm<Value>,
        _ kind: ColumnKind = .plain
    ) {
        let property = StoredProperty(keyPath)
        self.init(name, keyPath, get: property.get)
        traits.kind = kind
        traits.fields = [number]
        traits.wire = [
            RowField(
                number: number, layout: form.type, plain: PlainField(number, keyPath, form.plain),
                write: { row, writer in form.write(property.get(row), number, &writer) },
                take: { (row, field, reader, _) throws(WireError) in
                    try property.change(&row) { (value) throws(WireError) in try form.take(&value, field, reader) }
                })
        ]
    }

    /// A property that is stored under several numbers.
    ///
    /// - Parameters:
    ///   - write: writes all of them.
    ///   - take: reads one of them.
    package init<Value: Sendable>(
        _ numbers: ClosedRange<UInt32>, _ name: String, _ keyPath: any WritableKeyPath<Row, Value> & Sendable,
        write: @escaping @Sendable (Value, inout WireWriter) -> Void,
        take: @escaping @Sendable (inout Value, WireField, borrowing WireReader) throws(WireError) -> Void
    ) {
        let property = StoredProperty(keyPath)
        self.init(name, keyPath, get: property.get)
        traits.fields = Array(numbers)
        traits.wire = numbers.map { number in
            RowField(
                number: number, layout: "",
                write: { row, writer in if number == numbers.lowerBound { write(property.get(row), &writer) } },
                take: { (row, field, reader, _) throws(WireError) in
                    try property.change(&row) { (value) throws(WireError) in try take(&value, field, reader) }
                })
        }
    }

    /// A value that only the fold needs: it is stored, and cannot be queried.
    package init<Value: Sendable>(
        hidden number: UInt32, _ name: String, _ keyPath: any WritableKeyPath<Row, Value> & Sendable, as form: WireForm<Value>
    ) {
        self.init(number, name, keyPath, as: form)
        traits.isHidden = true
    }

    /// The same column, which names a node, or nodes.
    package func naming(_ naming: NodeNaming) -> RowColumn {
        var column = self
        column.traits.kind = .node
        column.traits.naming = naming
        return column
    }
}
