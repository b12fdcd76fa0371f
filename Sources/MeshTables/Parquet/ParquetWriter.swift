import Dispatch
import Foundation
import Synchronization

/// Writes batches as a Parquet file (https://parquet.apache.org/docs/file-format/) from beginning to end, so it can write to a pipe.
///
/// Pages are compressed with zstd. A batch is a page of each column; numbers use a dictionary as long as it pays, then differences or split bytes.
public final class ParquetWriter: BatchWriter {
    public struct Options: Sendable {
        /// Stores unsigned numbers as wider signed ones, since some readers have no unsigned ones.
        public var isSigned = false
        /// Adds a point of WKB for rows with a latitude and a longitude, as GeoParquet does.
        public var hasGeometry = true
        public var level: Int32 = 1
        /// Additional metadata of the file.
        public var metadata: [(key: String, value: String)] = []

        public init() {}
    }

    /// What was written.
    public struct Summary: Sendable {
        public var rowCount = 0
        public var byteCount = 0
    }

    private static let mostRows = 1 << 20
    private static let mostBytes = 64 << 20
    private static let zstd = 6

    private let schema: TableSchema
    private let output: any ByteOutput
    private let options: Options
    private let columns: [ParquetColumn]
    private let geometry: GeometryColumn?
    private var groups: [Group] = []
    private var groupRows = 0
    public private(set) var summary = Summary()

    private struct Chunk {
        var offset: Int
        var dictionaryOffset: Int?
        var dataOffset: Int
        var size: Int
        var uncompressedSize: Int
        var valueCount: Int
        var nullCount: Int
        var bounds: ValueBounds?
        var encodings: [Int]
        /// Their positions in the file.
        var pages: [(page: ParquetPage, offset: Int, size: Int)]
        var hasPageBounds: Bool
        var columnIndex: Range<Int> = 0..<0
        var offsetIndex: Range<Int> = 0..<0
    }

    private struct Group {
        var rows: Int
        var chunks: [Chunk]
    }

    /// Writes the first bytes of the file.
    /// - Throws: errors of the output.
    public init(_ schema: TableSchema, to output: any ByteOutput, _ options: Options = Options()) throws {
        geometry = options.hasGeometry ? GeometryColumn(schema) : nil
        let all = schema.columns + (geometry == nil ? [] : [GeometryColumn.schema])
        self.schema = TableSchema(name: schema.name, columns: all)
        self.output = output
        self.options = options
        columns = all.map { ParquetColumn($0, isSigned: options.isSigned, level: options.level) }
        try put(Array("PAR1".utf8))
    }

    public func write(_ batch: ColumnBatch) throws {
        let values = batch.columns + (geometry.map { [$0.points(of: batch)] } ?? [])
        let failure = Mutex<(any Error)?>(nil)
        let firstRow = groupRows
        DispatchQueue.concurrentPerform(iterations: columns.count) { [columns] place in
            do { try columns[place].append(values[place], firstRow: firstRow) } catch { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        groupRows += batch.rowCount
        if groupRows >= Self.mostRows || pendingBytes >= Self.mostBytes { try endGroup() }
    }

    /// The compressed pages of the current row group.
    var pendingBytes: Int { columns.reduce(0) { $0 + $1.byteCount } }

    func endPendingGroup() throws { if groupRows > 0 { try endGroup() } }

    public func finish() throws {
        if groupRows > 0 { try endGroup() }
        try writeIndexes()
        let footer = footer()
        var end: [UInt8] = []
        end.append(littleEndian: UInt64(footer.count), width: 4)
        try put(footer + end + Array("PAR1".utf8))
    }

    private func put(_ bytes: [UInt8]) throws {
        try output.write(bytes)
        summary.byteCount += bytes.count
    }

    private func endGroup() throws {
        var chunks: [Chunk] = []
        for column in columns {
            let start = summary.byteCount
            let dictionary = try column.dictionaryPage()
            if let dictionary { try put(dictionary) }
            let dataOffset = summary.byteCount
            var pages: [(page: ParquetPage, offset: Int, size: Int)] = []
            for var page in column.pages {
                let (offset, size) = (summary.byteCount, page.bytes.count)
                try put(page.bytes)
                page.bytes = []
                pages.append((page, offset, size))
            }
            var encodings = column.encodings.map(\.rawValue) + [PageEncoding.runLength.rawValue]
            if dictionary != nil { encodings.append(PageEncoding.plain.rawValue) }
            chunks.append(
                Chunk(
                    offset: start, dictionaryOffset: dictionary == nil ? nil : start, dataOffset: dataOffset,
                    size: summary.byteCount - start, uncompressedSize: column.uncompressedSize, valueCount: column.valueCount,
                    nullCount: column.nullCount, bounds: column.hasBounds ? column.bounds : nil,
                    encodings: Set(encodings).sorted(), pages: pages, hasPageBounds: column.hasBounds))
            column.reset()
        }
        groups.append(Group(rows: groupRows, chunks: chunks))
        summary.rowCount += groupRows
        groupRows = 0
    }

    private func writeIndexes() throws {
        for group in groups.indices {
            for place in groups[group].chunks.indices where groups[group].chunks[place].hasPageBounds {
                let start = summary.byteCount
                try put(Self.columnIndex(groups[group].chunks[place]))
                groups[group].chunks[place].columnIndex = start..<summary.byteCount
            }
        }
        for group in groups.indices {
            for place in groups[group].chunks.indices {
                let start = summary.byteCount
                var thrift = ThriftWriter()
                thrift.structures(1, groups[group].chunks[place].pages) { thrift, page in
                    thrift.i64(1, page.offset)
                    thrift.i32(2, page.size)
                    thrift.i64(3, page.page.firstRow)
                }
                try put(thrift.finish())
                groups[group].chunks[place].offsetIndex = start..<summary.byteCount
            }
        }
    }

    private static func columnIndex(_ chunk: Chunk) -> [UInt8] {
        let pages = chunk.pages.map(\.page)
        var thrift = ThriftWriter()
        thrift.bools(1, pages.map(\.isNullOnly))
        thrift.binaries(2, pages.map { $0.bounds?.least ?? [] })
        thrift.binaries(3, pages.map { $0.bounds?.greatest ?? [] })
        thrift.i32(4, 0)
        thrift.integers(5, pages.map(\.nullCount), are64Bits: true)
        return thrift.finish()
    }

    private func footer() -> [UInt8] {
        var thrift = ThriftWriter()
        thrift.i32(1, 2)
        thrift.structures(2, schemaElements()) { $1(&$0) }
        thrift.i64(3, summary.rowCount)
        thrift.structures(4, groups) { thrift, group in
            thrift.structures(1, Array(zip(columns, group.chunks))) { write($1.1, of: $1.0, to: &$0) }
            thrift.i64(2, group.chunks.reduce(0) { $0 + $1.uncompressedSize })
            thrift.i64(3, group.rows)
            if let first = group.chunks.first { thrift.i64(5, first.offset) }
            thrift.i64(6, group.chunks.reduce(0) { $0 + $1.size })
        }
        thrift.structures(5, metadata()) {
            $0.text(1, $1.key)
            $0.text(2, $1.value)
        }
        thrift.text(6, "MeshLedger")
        thrift.structures(7, columns) { thrift, _ in thrift.structure(1) { _ in } }
        return thrift.finish()
    }

    private func write(_ chunk: Chunk, of column: ParquetColumn, to thrift: inout ThriftWriter) {
        thrift.i64(2, chunk.offset)
        thrift.structure(3) {
            $0.i32(1, column.type.physical.rawValue)
            $0.integers(2, chunk.encodings)
            let path = column.isList ? [column.schema.name, "list", "element"] : [column.schema.name]
            $0.binaries(3, path.map { Array($0.utf8) })
            $0.i32(4, Self.zstd)
            $0.i64(5, chunk.valueCount)
            $0.i64(6, chunk.uncompressedSize)
            $0.i64(7, chunk.size)
            $0.i64(9, chunk.dataOffset)
            if let offset = chunk.dictionaryOffset { $0.i64(11, offset) }
            $0.structure(12) {
                $0.i64(3, chunk.nullCount)
                if let bounds = chunk.bounds {
                    $0.binary(5, bounds.greatest)
                    $0.binary(6, bounds.least)
                }
            }
        }
        thrift.i64(4, chunk.offsetIndex.lowerBound)
        thrift.i32(5, chunk.offsetIndex.count)
        if !chunk.columnIndex.isEmpty {
            thrift.i64(6, chunk.columnIndex.lowerBound)
            thrift.i32(7, chunk.columnIndex.count)
        }
    }

    private func schemaElements() -> [(inout ThriftWriter) -> Void] {
        let root: (inout ThriftWriter) -> Void = { [schema] in
            $0.text(4, "schema")
            $0.i32(5, schema.columns.count)
        }
        return [root]
            + columns.flatMap { column -> [(inout ThriftWriter) -> Void] in
                func leaf(_ name: String, isOptional: Bool) -> (inout ThriftWriter) -> Void {
                    {
                        $0.i32(1, column.type.physical.rawValue)
                        $0.i32(3, isOptional ? 1 : 0)
                        $0.text(4, name)
                        if let converted = column.type.converted { $0.i32(6, converted) }
                        if let logical = column.type.logical { $0.structure(10, logical) }
                    }
                }
                guard column.isList else { return [leaf(column.schema.name, isOptional: column.schema.isNullable)] }
                return [
                    {
                        $0.i32(3, 0)
                        $0.text(4, column.schema.name)
                        $0.i32(5, 1)
                        $0.i32(6, 3)
                        $0.structure(10) { $0.structure(3) { _ in } }
                    },
                    {
                        $0.i32(3, 2)
                        $0.text(4, "list")
                        $0.i32(5, 1)
                    },
                    leaf("element", isOptional: false),
                ]
            }
    }

    /// The units and meanings of columns, for pyarrow in its own form; and where the places are.
    private func metadata() -> [(key: String, value: String)] {
        var described = schema
        for index in described.columns.indices {
            switch described.columns[index].type {
            case .dictionary: described.columns[index].type = .utf8
            case .seconds: described.columns[index].type = .microseconds
            case .uint32 where options.isSigned, .uint64 where options.isSigned: described.columns[index].type = .int64
            case .list(.uint64) where options.isSigned: described.columns[index].type = .list(.int64)
            default: break
            }
        }
        let message = ArrowMessages.schema(described)
        var framed: [UInt8] = [0xff, 0xff, 0xff, 0xff]
        framed.append(littleEndian: UInt64(message.count), width: 4)
        let arrow = Data(framed + message).base64EncodedString()
        return [("ARROW:schema", arrow)] + (geometry.map { [("geo", $0.metadata)] } ?? []) + options.metadata
    }
}
