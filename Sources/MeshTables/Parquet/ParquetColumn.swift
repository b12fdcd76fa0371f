/// How a column is stored in Parquet.
struct ParquetType {
    enum Physical: Int {
        case boolean = 0
        case int32 = 1
        case int64 = 2
        case float = 4
        case double = 5
        case byteArray = 6
    }

    var physical: Physical
    var order: ValueOrder
    /// The converted type for old readers, and the writer of the logical type.
    var converted: Int?
    var logical: (@Sendable (inout ThriftWriter) -> Void)?

    /// In bytes; 0 if the width varies.
    var width: Int {
        switch physical {
        case .boolean, .byteArray: 0
        case .int32, .float: 4
        case .int64, .double: 8
        }
    }

    /// - Parameter isSigned: whether unsigned numbers are stored as wider signed ones, for readers without unsigned numbers.
    init(_ type: ColumnType, isSigned: Bool) {
        func integer(_ width: Int8, _ converted: Int) -> @Sendable (inout ThriftWriter) -> Void {
            { thrift in
                thrift.structure(10) {
                    $0.i8(1, width)
                    $0.bool(2, false)
                }
            }
        }
        switch type {
        case .bool: self.init(.boolean, .bool)
        case .int32: self.init(.int32, .signed)
        case .int64: self.init(.int64, .signed)
        case .uint32 where isSigned, .uint64 where isSigned: self.init(.int64, .signed)
        case .uint32: self.init(.int32, .unsigned, 13, integer(32, 13))
        case .uint64: self.init(.int64, .unsigned, 14, integer(64, 14))
        case .float32: self.init(.float, .float32)
        case .float64: self.init(.double, .float64)
        case .utf8, .json, .dictionary: self.init(.byteArray, .bytes, 0) { $0.structure(1) { _ in } }
        case .binary: self.init(.byteArray, .bytes)
        case .seconds, .microseconds:
            self.init(.int64, .signed, 10) { thrift in
                thrift.structure(8) {
                    $0.bool(1, true)
                    $0.structure(2) { $0.structure(2) { _ in } }
                }
            }
        case .list(let element): self.init(element, isSigned: isSigned)
        }
    }

    private init(
        _ physical: Physical, _ order: ValueOrder, _ converted: Int? = nil,
        _ logical: (@Sendable (inout ThriftWriter) -> Void)? = nil
    ) {
        self.physical = physical
        self.order = order
        self.converted = converted
        self.logical = logical
    }
}

/// A data page, compressed, with its header.
struct ParquetPage {
    var bytes: [UInt8]
    var firstRow: Int
    var isNullOnly: Bool
    var nullCount: Int
    var bounds: ValueBounds?
}

/// The pages of one column in one row group.
///
/// Synchronization: a writer's threads each have other columns, and end before the writer goes on.
final class ParquetColumn: @unchecked Sendable {
    /// Texts longer than this are left out of statistics.
    private static let longestBound = 64
    /// A dictionary with more values costs readers more than it saves.
    private static let mostEntries = 1 << 16

    let schema: ColumnSchema
    let type: ParquetType
    private let isSigned: Bool
    private let level: Int32

    private(set) var pages: [ParquetPage] = []
    private(set) var valueCount = 0
    private(set) var nullCount = 0
    private(set) var bounds: ValueBounds?
    /// Whether all bounds are known.
    private(set) var hasBounds = true
    private(set) var encodings: Set<PageEncoding> = []
    private(set) var uncompressedSize = 0
    private var numbers = NumberDictionary()
    private var texts = TextDictionary()
    /// A dictionary that the column already has.
    private var given: ColumnDictionary?
    private var usesDictionary = true

    /// - Parameter level: of the compression.
    init(_ schema: ColumnSchema, isSigned: Bool, level: Int32) {
        self.schema = schema
        self.isSigned = isSigned
        self.level = level
        type = ParquetType(schema.type, isSigned: isSigned)
    }

    var byteCount: Int { pages.reduce(0) { $0 + $1.bytes.count } + numbers.byteCount + texts.byteCount }

    var isList: Bool { if case .list = schema.type { true } else { false } }

    /// Discards the row group.
    func reset() {
        (pages, valueCount, nullCount, bounds, hasBounds) = ([], 0, 0, nil, true)
        (encodings, uncompressedSize, numbers, texts, given, usesDictionary) = (
            [], 0, NumberDictionary(), TextDictionary(), nil, true
        )
    }

    func append(_ column: ColumnArray, firstRow: Int) throws {
        let column = isSigned && schema.isNullable ? column.withoutUnsignedBeyondSigned : column
        var page: [UInt8] = []
        var count = column.count
        var data = column.data
        if case .list(let offsets, let elements) = column.data {
            (count, data) = (appendLevels(of: offsets, to: &page), elements)
        } else if schema.isNullable {
            page.append(
                levels: column.validity, count: column.count,
                ones: column.validity.isEmpty ? column.count : column.count - column.nullCount)
        }
        let isAll = isList || column.nullCount == 0
        let (encoding, bounds) = try append(data, isAll ? nil : column, to: &page)
        encodings.insert(encoding)
        let nulls = isList ? count - Int(elementCount(column)) : column.nullCount
        let isEmpty = nulls == count
        if !isEmpty, bounds == nil { hasBounds = false }
        self.bounds = type.order.union(self.bounds, bounds)
        valueCount += count
        nullCount += nulls
        pages.append(
            ParquetPage(
                bytes: try framed(page, isDictionary: false, count, encoding), firstRow: firstRow, isNullOnly: isEmpty,
                nullCount: nulls, bounds: bounds))
    }

    private func elementCount(_ column: ColumnArray) -> Int32 {
        if case .list(let offsets, _) = column.data { offsets.last ?? 0 } else { 0 }
    }

    /// Repetition and definition levels of lists.
    /// - Returns: the number of levels.
    private func appendLevels(of offsets: [Int32], to page: inout [UInt8]) -> Int {
        var (repeated, defined) = (BitPacker(), BitPacker())
        var (count, repeats, elements) = (0, 0, 0)
        for (start, end) in zip(offsets, offsets.dropFirst()) {
            if start == end {
                repeated.append(0, width: 1)
                defined.append(0, width: 1)
                count += 1
            }
            for index in start..<end {
                repeated.append(index == start ? 0 : 1, width: 1)
                defined.append(1, width: 1)
                repeats += index == start ? 0 : 1
                elements += 1
                count += 1
            }
        }
        repeated.finish()
        defined.finish()
        page.append(levels: repeated.bytes, count: count, ones: repeats)
        page.append(levels: defined.bytes, count: count, ones: elements)
        return count
    }

    /// - Parameter column: the column whose nulls are left out; nil if no value is null.
    private func append(
        _ data: ColumnData, _ column: ColumnArray?, to page: inout [UInt8]
    ) throws -> (PageEncoding, ValueBounds?) {
        @inline(__always)
        func kept<Value, Kept>(_ values: [Value], _ convert: (Value) -> Kept) -> [Kept] {
            guard let column else { return values.map(convert) }
            var kept: [Kept] = []
            kept.reserveCapacity(values.count)
            for (index, value) in values.enumerated() where column.isValid(index) { kept.append(convert(value)) }
            return kept
        }
        switch data {
        case .bool(let bits): return appendBools(bits, column, to: &page)
        case .int32(let values): return appendNumbers(kept(values) { UInt64(UInt32(bitPattern: $0)) }, to: &page)
        case .uint32(let values): return appendNumbers(kept(values) { UInt64($0) }, to: &page)
        case .int64(let values):
            let scale: Int64 = schema.type == .seconds ? 1_000_000 : 1
            return appendNumbers(kept(values) { UInt64(bitPattern: $0 &* scale) }, to: &page)
        case .uint64(let values):
            let kept = column == nil ? values : kept(values) { $0 }
            if isSigned, let large = kept.first(where: { $0 > Int64.max }) {
                throw TableError(.damaged, "\(schema.name) has the value \(large), which readers of the lake cannot hold")
            }
            return appendNumbers(kept, to: &page)
        case .float32(let values): return appendNumbers(kept(values) { UInt64($0.bitPattern) }, to: &page)
        case .float64(let values): return appendNumbers(kept(values) { $0.bitPattern }, to: &page)
        case .bytes(let offsets, let bytes): return appendTexts(offsets, bytes, column, to: &page)
        case .dictionary(let indexes, let dictionary):
            return appendIndexes(column == nil ? indexes : kept(indexes) { $0 }, dictionary, to: &page)
        case .list: throw TableError(.damaged, "\(schema.name): lists of lists cannot be stored")
        }
    }

    private func appendBools(_ bits: [UInt8], _ column: ColumnArray?, to page: inout [UInt8]) -> (PageEncoding, ValueBounds?) {
        var packer = BitPacker()
        var (hasFalse, hasTrue) = (false, false)
        let count = column?.count ?? bits.count * 8
        for index in 0..<count where column?.isValid(index) ?? true {
            let bit = bits[index >> 3] >> UInt8(index & 7) & 1
            packer.append(UInt64(bit), width: 1)
            if bit == 0 { hasFalse = true } else { hasTrue = true }
        }
        packer.finish()
        page += packer.bytes
        return (.plain, hasFalse || hasTrue ? ValueBounds(least: [hasFalse ? 0 : 1], greatest: [hasTrue ? 1 : 0]) : nil)
    }

    private func appendNumbers(_ values: [UInt64], to page: inout [UInt8]) -> (PageEncoding, ValueBounds?) {
        let bounds = type.order.bounds(values, width: type.width)
        if usesDictionary, let indexes = indexes(of: values) {
            append(indexes, count: numbers.values.count, to: &page)
            return (.dictionary, bounds)
        }
        switch type.physical {
        case .float, .double:
            page.append(split: values, width: type.width)
            return (.byteStreamSplit, bounds)
        default:
            page.append(deltas: values, width: type.width)
            return (.deltaBinaryPacked, bounds)
        }
    }

    /// Nil if there are too many distinct values; the dictionary then keeps what earlier pages refer to.
    private func indexes(of values: [UInt64]) -> [Int32]? {
        var indexes: [Int32] = []
        indexes.reserveCapacity(values.count)
        // A local dictionary is changed without checks of access to the property.
        var numbers = NumberDictionary()
        swap(&numbers, &self.numbers)
        defer { swap(&numbers, &self.numbers) }
        numbers.open()
        let (before, earlier) = (numbers.values.count, valueCount - nullCount)
        for value in values {
            indexes.append(numbers.index(of: value))
            let new = numbers.values.count - before
            if indexes.count & 1023 == 0, indexes.count >= 2048,
                new > indexes.count / 2 || numbers.values.count > Self.mostEntries
            {
                numbers.close()
                endDictionary()
                return nil
            }
        }
        // One page may be too small to judge by; if so, later pages use no dictionary.
        let all = earlier + indexes.count
        if all >= 2048, numbers.values.count > all / 2 || numbers.values.count > Self.mostEntries {
            numbers.close()
            endDictionary()
        }
        return indexes
    }

    /// Later pages use none.
    private func endDictionary() {
        usesDictionary = false
        numbers.close()
        texts.close()
    }

    private func appendTexts(
        _ offsets: [Int32], _ bytes: [UInt8], _ column: ColumnArray?, to page: inout [UInt8]
    ) -> (PageEncoding, ValueBounds?) {
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(offsets.count)
        for index in 0..<offsets.count - 1 where column?.isValid(index) ?? true {
            ranges.append(Int(offsets[index])..<Int(offsets[index + 1]))
        }
        if usesDictionary {
            var indexes: [Int32] = []
            indexes.reserveCapacity(ranges.count)
            let before = texts.texts.count
            for range in ranges {
                indexes.append(texts.index(of: bytes[range]))
                let new = texts.texts.count - before
                if indexes.count >= 1024,
                    new > indexes.count / 2 || texts.texts.count > Self.mostEntries || texts.texts.bytes.count > 1 << 20
                {
                    endDictionary()
                    break
                }
            }
            if usesDictionary {
                append(indexes, count: texts.texts.count, to: &page)
                return (.dictionary, bounds(of: texts.texts, indexes))
            }
        }
        page.reserveCapacity(page.count + bytes.count + ranges.count * 4)
        for range in ranges {
            page.append(littleEndian: UInt64(range.count), width: 4)
            page += bytes[range]
        }
        let least = ranges.min { bytes[$0].lexicographicallyPrecedes(bytes[$1]) }
        let greatest = ranges.max { bytes[$0].lexicographicallyPrecedes(bytes[$1]) }
        return (.plain, bounds(least.map { bytes[$0] }, greatest.map { bytes[$0] }))
    }

    private func appendIndexes(
        _ indexes: [Int32], _ dictionary: ColumnDictionary, to page: inout [UInt8]
    ) -> (PageEncoding, ValueBounds?) {
        given = dictionary
        append(indexes, count: dictionary.count, to: &page)
        return (.dictionary, bounds(of: dictionary, indexes))
    }

    private func bounds(of dictionary: ColumnDictionary, _ indexes: [Int32]) -> ValueBounds? {
        var used = [Bool](repeating: false, count: dictionary.count)
        for index in indexes { used[Int(index)] = true }
        let all = used.indices.filter { used[$0] }
        let least = all.min { dictionary.text($0).lexicographicallyPrecedes(dictionary.text($1)) }
        let greatest = all.max { dictionary.text($0).lexicographicallyPrecedes(dictionary.text($1)) }
        return bounds(least.map(dictionary.text), greatest.map(dictionary.text))
    }

    private func bounds(_ least: ArraySlice<UInt8>?, _ greatest: ArraySlice<UInt8>?) -> ValueBounds? {
        guard let least, let greatest, least.count <= Self.longestBound, greatest.count <= Self.longestBound else { return nil }
        return ValueBounds(least: Array(least), greatest: Array(greatest))
    }

    private func append(_ indexes: [Int32], count: Int, to page: inout [UInt8]) {
        let width = max(1, Int.bitWidth - max(0, count - 1).leadingZeroBitCount)
        page.append(UInt8(width))
        page.append(hybrid: indexes, width: width)
    }

    /// The dictionary's page with its header; nil if no page refers to it.
    func dictionaryPage() throws -> [UInt8]? {
        guard encodings.contains(.dictionary) else { return nil }
        var page: [UInt8] = []
        if type.physical == .byteArray {
            let dictionary = given ?? texts.texts
            for index in 0..<dictionary.count {
                let text = dictionary.text(index)
                page.append(littleEndian: UInt64(text.count), width: 4)
                page += text
            }
            return try framed(page, isDictionary: true, dictionary.count, .plain)
        }
        page.append(plain: numbers.values, width: type.width)
        return try framed(page, isDictionary: true, numbers.values.count, .plain)
    }

    private func framed(_ page: [UInt8], isDictionary: Bool, _ count: Int, _ encoding: PageEncoding) throws -> [UInt8] {
        try PageCompressors.compress(page, level: level) { compressed in
            try framed(page.count, compressed, isDictionary: isDictionary, count, encoding)
        }
    }

    private func framed(
        _ byteCount: Int, _ compressed: ArraySlice<UInt8>, isDictionary: Bool, _ count: Int, _ encoding: PageEncoding
    ) throws -> [UInt8] {
        var header = ThriftWriter()
        header.i32(1, isDictionary ? 2 : 0)
        header.i32(2, byteCount)
        header.i32(3, compressed.count)
        header.structure(isDictionary ? 7 : 5) {
            $0.i32(1, count)
            $0.i32(2, encoding.rawValue)
            if !isDictionary {
                $0.i32(3, PageEncoding.runLength.rawValue)
                $0.i32(4, PageEncoding.runLength.rawValue)
            }
        }
        let bytes = header.finish()
        uncompressedSize += bytes.count + byteCount
        return bytes + compressed
    }
}
