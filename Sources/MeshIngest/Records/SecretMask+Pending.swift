import ProtobufWire

/// Stands in until the field-exact mask exists: blanks the whole configuration and channels that a radio tells its client.
enum SecretMask {
    static func mask(fromRadio bytes: inout [UInt8]) -> Bool {
        var ranges: [ByteRange] = []
        var reader = WireReader(bytes.rawSpan)
        do throws(WireError) {
            while let field = try reader.next() { if [5, 9, 10].contains(field.number) { ranges.append(field.range) } }
        } catch {
            return false
        }
        for range in ranges { for place in range.start..<range.end { bytes[place] = 0 } }
        return !ranges.isEmpty
    }
}
