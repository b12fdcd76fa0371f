public import EventLog
public import Meshtastic

/// A reception of a packet as passed to the fold of a custom view.
public struct MeshEvent: Sendable {
    @usableFromInline let batch: MeshBatch
    @usableFromInline var index = 0

    @usableFromInline
    init(batch: MeshBatch) { self.batch = batch }

    private var stamp: MeshBatch.Stamp { batch.stamps[index] }

    @inlinable
    public var packet: DecodedPacket { batch.packets.packets[index] }
    public var sequence: UInt64 { stamp.sequence }
    public var source: SourceID { stamp.source }
    /// When it arrived here, seconds since 1970.
    public var arrival: UInt32 { stamp.arrival }
    /// When it was received, by the best trusted clock, seconds since 1970.
    public var time: UInt32 { stamp.policy(for: packet).time(received: packet.rxTime).time }
    /// The event of the packet's first reception.
    public var firstSequence: UInt64 { stamp.firstSequence }
    public var isFirstReception: Bool { stamp.isFirstReception }
    /// Whether it is the first readable reception of its packet.
    public var isFirstReadable: Bool { stamp.isFirstReadable }
    /// The channel's name; empty if it is unknown.
    public var channel: String { stamp.channel >= 0 ? batch.channels[Int(stamp.channel)].name : "" }

    /// Decodes the payload.
    ///
    /// ```swift
    /// let position = try event.payload(Position.init(decoding:))
    /// ```
    /// - Throws: what `decode` throws.
    @inlinable
    public func payload<Value, Failure: Error>(_ decode: (RawSpan) throws(Failure) -> Value) throws(Failure) -> Value {
        try decode(batch.packets.payload(of: packet))
    }

    /// The payload as text.
    public var text: String { batch.packets.string(packet.payload) }
}

/// The events of a batch that a custom view receives, in the order of the log.
public struct MeshEvents: Sendable {
    @usableFromInline let batch: MeshBatch
    /// The indexes of the events in the batch.
    @usableFromInline let places: [Int32]

    init(_ batch: MeshBatch, _ places: [Int32]) {
        self.batch = batch
        self.places = places
    }
}
