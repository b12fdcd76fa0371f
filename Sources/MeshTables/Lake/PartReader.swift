import MeshLedger

/// Reads the rows of a lake's files for `lake verify`: only what `ParquetWriter` writes, and only as their digest.
struct PartReader {
    private static let mostRows = 1 << 22
    private static let mostBytes = 1 << 29
    /// Of a page, elements of lists among them.
    private static let mostValues = 1 << 24

    private let bytes: [UInt8]
    private let footer: ThriftReader.Value

    /// - Parameter bytes: of the whole file.
    init(_ bytes: [UInt8]) throws {
        var end = ByteReader(bytes, at: bytes.count - 8)
        let mark = Array("PAR1".utf8)
        guard bytes.count >= 12, bytes.starts(with: mark), bytes.suffix(4).elementsEqual(mark) else { throw ByteReader.damage }
        let length = Int(try end.littleEndian(4))
        guard length <= bytes.count - 12 else { throw ByteReader.damage }
        var reader = ThriftReader(bytes, at: bytes.count - 8 - length)
        (self.bytes, footer) = (bytes, try reader.structure())
    }

    /// The schema as the file has it.
    var schema: ThriftReader.Value? { footer[2] }

    /// The schema as files of a table have it.
    static func schema(of table: TableSchema) throws -> ThriftReader.Value? {
        let file = MemoryOutput()
        try ParquetWriter(table, to: file, .ofLakes).finish()
        return try PartReader(file.bytes).schema
    }

    func digest(_ columns: [ColumnSchema], seed: UInt64) throws -> RowDigest {
        var digest = RowDigest()
        for group in footer[4]?.elements ?? [] {
            let chunks = group[1]?.elements ?? []
            guard let rows = group[3]?.integer, (0...Self.mostRows).contains(rows), chunks.count == columns.count else {
                throw ByteReader.damage
            }
            var hashes = [UInt64](repeating: seed, count: rows)
            for (chunk, column) in zip(chunks, columns) {
                guard let chunk = chunk[3] else { throw ByteReader.damage }
                let values = try values(of: chunk, column, rows)
                for row in 0..<rows { hashes[row] = RowDigest.mix(hashes[row], values[row]) }
            }
            for hash in hashes { digest.add(hash, row: 0, []) }
        }
        return digest
    }

    /// What the digest takes of each row.
    private func values(of chunk: ThriftReader.Value, _ column: ColumnSchema, _ rows: Int) throws -> [UInt64] {
        guard var place = (chunk[11] ?? chunk[9])?.integer else { throw ByteReader.damage }
        var (values, dictionary): ([UInt64], [UInt64]) = ([], [])
        while values.count < rows {
            var thrift = ThriftReader(bytes, at: place)
            let header = try thrift.structure()
            guard let size = header[3]?.integer, let full = header[2]?.integer, (0...Self.mostBytes).contains(full) else {
                throw ByteReader.damage
            }
            var compressed = ByteReader(bytes, at: thrift.place)
            let page = try PageCompressors.decompress(compressed.take(size), to: full)
            place = compressed.place
            guard let about = header[7] ?? header[5], let count = about[1]?.integer, (0...Self.mostValues).contains(count),
                let encoding = about[2]?.integer.flatMap(PageEncoding.init(rawValue:))
            else { throw ByteReader.damage }
            var read = PageValues(page, column)
            if header[7] != nil {
                dictionary = try read.values(count, encoding, [])
            } else {
                values += try read.rows(count, encoding, dictionary)
            }
        }
        guard values.count == rows else { throw ByteReader.damage }
        return values
    }
}

/// The values of one page, as the digest takes them.
private struct PageValues {
    private var page: ByteReader
    private let column: ColumnSchema
    private let type: ParquetType

    init(_ bytes: [UInt8], _ column: ColumnSchema) {
        (page, self.column) = (ByteReader(bytes), column)
        type = ParquetType(column.type, isSigned: true)
    }

    mutating func rows(_ count: Int, _ encoding: PageEncoding, _ dictionary: [UInt64]) throws -> [UInt64] {
        guard case .list = column.type else {
            guard column.isNullable else { return try values(count, encoding, dictionary) }
            let defined = try levels(count)
            var present = try values(defined.count { $0 == 1 }, encoding, dictionary).makeIterator()
            return defined.map { $0 == 1 ? present.next() ?? RowDigest.null : RowDigest.null }
        }
        let (repeated, defined) = (try levels(count), try levels(count))
        var elements = try values(defined.count { $0 == 1 }, encoding, dictionary).makeIterator()
        var rows: [UInt64] = []
        for (isRepeated, isDefined) in zip(repeated, defined) {
            if isRepeated == 0 { rows.append(RowDigest.emptyList) }
            guard isDefined == 1, let element = elements.next(), let last = rows.last else { continue }
            rows[rows.count - 1] = RowDigest.mix(last, RowDigest.mix(RowDigest.element, element))
        }
        return rows
    }

    private mutating func levels(_ count: Int) throws -> [UInt64] {
        var levels = ByteReader(Array(try page.take(Int(try page.littleEndian(4)))))
        return try Self.hybrid(&levels, count, width: 1)
    }

    mutating func values(_ count: Int, _ encoding: PageEncoding, _ dictionary: [UInt64]) throws -> [UInt64] {
        switch encoding {
        case .dictionary:
            let width = Int(try page.byte())
            return try Self.hybrid(&page, count, width: width).map { index in
                guard index < UInt64(dictionary.count) else { throw ByteReader.damage }
                return dictionary[Int(index)]
            }
        case .deltaBinaryPacked: return try deltas(count).map(normal)
        case .byteStreamSplit:
            let bytes = Array(try page.take(count * type.width))
            return (0..<count).map { index in
                (0..<type.width).reduce(0) { $0 | UInt64(bytes[$1 * count + index]) << UInt64(8 * $1) }
            }
        case .plain: return try plain(count)
        case .runLength: throw ByteReader.damage
        }
    }

    private mutating func plain(_ count: Int) throws -> [UInt64] {
        switch type.physical {
        case .boolean: return try Self.unpacked(page.take((count + 7) / 8), count, width: 1)
        case .byteArray:
            return try (0..<count).map { _ in RowDigest.hash(try page.take(Int(try page.littleEndian(4)))) }
        default: return try (0..<count).map { _ in normal(try page.littleEndian(type.width)) }
        }
    }

    /// A number as the digest takes it.
    private func normal(_ number: UInt64) -> UInt64 {
        if type.physical == .int32 { return UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: number))) }
        return column.type == .seconds ? UInt64(bitPattern: Int64(bitPattern: number) / 1_000_000) : number
    }

    private mutating func deltas(_ count: Int) throws -> [UInt64] {
        guard try page.varint() == 128, try page.varint() == 4, try page.varint() == count else { throw ByteReader.damage }
        var number = UInt64(bitPattern: Int64(try page.zigzag()))
        guard count > 0 else { return [] }
        var numbers = [number]
        while numbers.count < count {
            let least = UInt64(bitPattern: Int64(try page.zigzag()))
            let widths = Array(try page.take(4))
            for width in widths where numbers.count < count {
                for delta in try Self.unpacked(page.take(Int(width) * 4), 32, width: Int(width)) where numbers.count < count {
                    number = number &+ least &+ delta
                    numbers.append(number)
                }
            }
        }
        return numbers
    }

    private static func hybrid(_ bytes: inout ByteReader, _ count: Int, width: Int) throws -> [UInt64] {
        var values: [UInt64] = []
        guard width <= 32 else { throw ByteReader.damage }
        while values.count < count {
            let head = try bytes.varint()
            let left = count - values.count
            if head & 1 == 0 {
                let value = try bytes.littleEndian((width + 7) / 8)
                guard head >> 1 > 0 else { throw ByteReader.damage }
                values += repeatElement(value, count: min(head >> 1, left))
            } else {
                let groups = head >> 1
                guard groups > 0, groups <= bytes.rest else { throw ByteReader.damage }
                values += try unpacked(bytes.take(groups * width), min(groups * 8, left), width: width)
            }
        }
        return values
    }

    /// Numbers of some bits each, the lowest first.
    private static func unpacked(_ bytes: ArraySlice<UInt8>, _ count: Int, width: Int) throws -> [UInt64] {
        guard width <= 64, bytes.count * 8 >= count * width else { throw ByteReader.damage }
        return (0..<count).map { index in
            var (value, done) = (UInt64(0), 0)
            while done < width {
                let bit = index * width + done
                let (byte, offset) = (bytes[bytes.startIndex + bit >> 3], bit & 7)
                value |= UInt64(byte >> UInt8(offset)) << UInt64(done)
                done += 8 - offset
            }
            return width < 64 ? value & (1 << UInt64(width) - 1) : value
        }
    }
}
