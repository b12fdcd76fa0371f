import ProtobufWire
public import ViewQuery

/// Its keys have no fixed length, so no part of a predicate becomes a key range.
extension ChannelRow: QueryRow {
    public static let view = "nodes"
    public static let table = "channels"

    public static let columns: [RowColumn<ChannelRow>] = [
        RowColumn("channel", \.channel) { $0.channel },
        RowColumn("name", \.channel.name) { $0.channel.name },
        RowColumn("keyFingerprint", \.channel.keyFingerprint) { $0.channel.keyFingerprint },
        RowColumn("isReadable", \.channel.isReadable) { $0.channel.isReadable },
        RowColumn("hash", \.hash) { $0.hash }.stored(3, 11).table("Its hash on the wire."),
        RowColumn("packets", \.packets) { $0.packets }.stored(4).table("How many packets were heard."),
        RowColumn("receptions", \.receptions) { $0.receptions }.stored(5).table("How often they were heard."),
        RowColumn("firstHeard", \.firstHeard) { $0.firstHeard }.stored(8).shown(as: .time).table(),
        RowColumn("lastHeard", \.lastHeard) { $0.lastHeard }.stored(6).shown(as: .time).table(),
        RowColumn("isTimeOfImport", \.isTimeOfImport) { $0.isTimeOfImport }.stored(13).table(Meaning.timeOfImport),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(9).table(Meaning.firstSequence),
        RowColumn("lastSequence", \.lastSequence) { $0.lastSequence }.stored(10).table("Its newest event."),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(value) else { return nil }
        self = row
    }
}
