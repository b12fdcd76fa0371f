internal import ProtobufWire

/// Records which events retention has dropped, and what remains of them. It is itself an event, of the encoding `.retention`.
public struct Retention: Sendable, Hashable {
    /// The rows that a view had built from the dropped events.
    public struct Baseline: Sendable, Hashable {
        public var view: String
        /// The recipe that made them.
        public var recipe: String
        /// SHA-256 of the file that holds them; every reader of the file checks it.
        public var digest: [UInt8]
        /// The digest of the rows, as `meshledger view digest` prints it.
        public var rows: String

        public init(view: String, recipe: String, digest: [UInt8], rows: String = "") {
            self.view = view
            self.recipe = recipe
            self.digest = digest
            self.rows = rows
        }
    }

    /// The first event that is kept.
    public var first: EventSequence
    /// How many events this cut dropped.
    public var count: UInt64
    /// The lowest and the highest arrival time of these.
    public var firstArrival: Timestamp
    public var lastArrival: Timestamp
    /// The root of the tree over all events before the first that is kept.
    public var root: [UInt8]
    public var baselines: [Baseline]
    /// The signature of the log's key, so that write access to the files is not enough to forge a cut.
    public var signature: [UInt8]

    public init(
        first: EventSequence, count: UInt64, firstArrival: Timestamp, lastArrival: Timestamp, root: [UInt8] = [],
        baselines: [Baseline] = [], signature: [UInt8] = []
    ) {
        self.first = first
        self.count = count
        self.firstArrival = firstArrival
        self.lastArrival = lastArrival
        self.root = root
        self.baselines = baselines
        self.signature = signature
    }
}

extension Retention {
    /// Protobuf: 1 first, 2 count, 3 and 4 times in microseconds, 5 root, 6 baselines (1 view, 2 recipe, 3 digest, 4 rows), 7 signature.
    public var payload: [UInt8] {
        var writer = WireWriter(capacity: 512)
        writer.varint(1, first.rawValue)
        writer.varint(2, count)
        writer.int64(3, firstArrival.microseconds)
        writer.int64(4, lastArrival.microseconds)
        writer.bytes(5, root)
        for baseline in baselines {
            writer.message(6) { message in
                message.string(1, baseline.view)
                message.string(2, baseline.recipe)
                message.bytes(3, baseline.digest)
                message.string(4, baseline.rows)
            }
        }
        if !signature.isEmpty { writer.bytes(7, signature) }
        return writer.bytes
    }

    /// Nil if the bytes are not a retention.
    public init?(payload: RawSpan) {
        let epoch = Timestamp(microseconds: 0)
        self.init(first: .zero, count: 0, firstArrival: epoch, lastArrival: epoch)
        var reader = WireReader(payload)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.tag {
                case WireField.tag(1, .varint): first = EventSequence(field.scalar)
                case WireField.tag(2, .varint): count = field.scalar
                case WireField.tag(3, .varint): firstArrival = Timestamp(microseconds: Int64(bitPattern: field.scalar))
                case WireField.tag(4, .varint): lastArrival = Timestamp(microseconds: Int64(bitPattern: field.scalar))
                case WireField.tag(5, .lengthDelimited): root = reader.bytes(field).asArray
                case WireField.tag(6, .lengthDelimited): baselines.append(try Baseline(payload, in: field.range))
                case WireField.tag(7, .lengthDelimited): signature = reader.bytes(field).asArray
                default: break
                }
            }
        } catch {
            return nil
        }
        guard first > .zero else { return nil }
    }
}

extension Retention.Baseline {
    fileprivate init(_ bytes: RawSpan, in range: ByteRange) throws(WireError) {
        self.init(view: "", recipe: "", digest: [])
        var reader = WireReader(bytes, in: range)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .lengthDelimited): view = reader.string(field)
            case WireField.tag(2, .lengthDelimited): recipe = reader.string(field)
            case WireField.tag(3, .lengthDelimited): digest = reader.bytes(field).asArray
            case WireField.tag(4, .lengthDelimited): rows = reader.string(field)
            default: break
            }
        }
    }
}
