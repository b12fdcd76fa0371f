public import ProtobufWire

/// Messages to and from a node that stores messages for others: the payload of port 65.
public struct StoreAndForward: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
        case none
        case statistics(Statistics)
        case history(messages: UInt32, window: UInt32, lastRequest: UInt32)
        case heartbeat(period: UInt32, secondary: UInt32)
        /// The bytes of a text.
        case text([UInt8])
    }

    public struct Statistics: Sendable, Hashable {
        public var messagesTotal: UInt32 = 0
        public var messagesSaved: UInt32 = 0
        public var messagesMax: UInt32 = 0
        /// Seconds.
        public var upTime: UInt32 = 0
        public var requests: UInt32 = 0
        public var requestsHistory: UInt32 = 0
        public var hasHeartbeat = false
        public var returnMax: UInt32 = 0
        /// Minutes.
        public var returnWindow: UInt32 = 0
        public init() {}
    }

    /// Request or response: 1 to 10 from a router, 64 and above from a client.
    public var kind: UInt32 = 0
    public var content = Content.none

    public init() {}

    /// - Throws: `WireError` if the bytes are not a message.
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(1, .varint): kind = field.asUInt32
            case WireField.tag(2, .lengthDelimited): content = .statistics(try Statistics(reader.numbers(field)))
            case WireField.tag(3, .lengthDelimited):
                let numbers = try reader.numbers(field)
                content = .history(messages: numbers[1], window: numbers[2], lastRequest: numbers[3])
            case WireField.tag(4, .lengthDelimited):
                let numbers = try reader.numbers(field)
                content = .heartbeat(period: numbers[1], secondary: numbers[2])
            case WireField.tag(5, .lengthDelimited): content = .text(reader.bytes(field).asArray)
            default: break
            }
        }
    }

    public func encode(to writer: inout WireWriter) {
        writer.uint32Unless0(1, kind)
        switch content {
        case .none: break
        case .statistics(let statistics): writer.message(2) { $0.numbers(statistics.numbers) }
        case .history(let messages, let window, let lastRequest):
            writer.message(3) { $0.numbers([messages, window, lastRequest]) }
        case .heartbeat(let period, let secondary): writer.message(4) { $0.numbers([period, secondary]) }
        case .text(let text): writer.bytes(5, text)
        }
    }
}

extension StoreAndForward.Statistics {
    init(_ numbers: [UInt32]) {
        messagesTotal = numbers[1]
        messagesSaved = numbers[2]
        messagesMax = numbers[3]
        upTime = numbers[4]
        requests = numbers[5]
        requestsHistory = numbers[6]
        hasHeartbeat = numbers[7] != 0
        returnMax = numbers[8]
        returnWindow = numbers[9]
    }

    var numbers: [UInt32] {
        [
            messagesTotal, messagesSaved, messagesMax, upTime, requests, requestsHistory, hasHeartbeat ? 1 : 0, returnMax,
            returnWindow,
        ]
    }
}

extension WireReader {
    /// The varints of a nested message by field number, 0 if absent; fields 0 to 9 only.
    fileprivate func numbers(_ field: WireField) throws(WireError) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: 10)
        var inner = WireReader(bytes(field))
        while let number = try inner.next() {
            if number.type == .varint, number.number < 10 { numbers[Int(number.number)] = number.asUInt32 }
        }
        return numbers
    }
}

extension WireWriter {
    /// Numbers as fields 1, 2, …
    fileprivate mutating func numbers(_ values: [UInt32]) {
        for (number, value) in zip(UInt32(1)..., values) { uint32Unless0(number, value) }
    }
}
