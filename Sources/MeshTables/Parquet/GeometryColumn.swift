/// Points in WKB for rows with a latitude and a longitude, as GeoParquet 1.1 describes.
final class GeometryColumn {
    static let schema = ColumnSchema("geometry", .binary, meaning: "The place as a point in WKB.")

    private let latitude: Int
    private let longitude: Int
    /// West, south, east, north.
    private var box: (Double, Double, Double, Double)?

    /// Nil if the table has no places.
    init?(_ schema: TableSchema) {
        func place(_ name: String) -> Int? { schema.columns.firstIndex { $0.name == name && $0.type == .float64 } }
        guard let latitude = place("latitude"), let longitude = place("longitude"), place("geometry") == nil else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    func points(of batch: ColumnBatch) -> ColumnArray {
        let (north, east) = (batch.columns[latitude], batch.columns[longitude])
        guard case .float64(let latitudes) = north.data, case .float64(let longitudes) = east.data else {
            return ColumnArray(count: 0, nullCount: 0, validity: [], data: .bytes(offsets: [0], bytes: []))
        }
        var validity = ValidityBits()
        var (offsets, bytes): ([Int32], [UInt8]) = ([0], [])
        offsets.reserveCapacity(batch.rowCount + 1)
        bytes.reserveCapacity(batch.rowCount * 21)
        for index in 0..<batch.rowCount {
            let isPlace = north.isValid(index) && east.isValid(index)
            validity.append(isPlace)
            if isPlace {
                let (x, y) = (longitudes[index], latitudes[index])
                bytes += [1, 1, 0, 0, 0]
                bytes.append(littleEndian: x.bitPattern, width: 8)
                bytes.append(littleEndian: y.bitPattern, width: 8)
                let (west, south, east, north) = box ?? (x, y, x, y)
                box = (min(west, x), min(south, y), max(east, x), max(north, y))
            }
            offsets.append(Int32(clamping: bytes.count))
        }
        return ColumnArray(
            count: batch.rowCount, nullCount: validity.nullCount, validity: validity.bits,
            data: .bytes(offsets: offsets, bytes: bytes))
    }

    /// Without a coordinate system, the coordinates are longitude and latitude of WGS 84.
    var metadata: String {
        let bounds = box.map { ",\"bbox\":[\($0.0),\($0.1),\($0.2),\($0.3)]" } ?? ""
        return "{\"version\":\"1.1.0\",\"primary_column\":\"geometry\",\"columns\":{\"geometry\":"
            + "{\"encoding\":\"WKB\",\"geometry_types\":[\"Point\"]\(bounds)}}}"
    }
}
