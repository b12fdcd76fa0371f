import EventLog
import MeshViews
import Meshtastic
import ProtobufWire

extension ControlRequest {
    /// The numbers of the kinds of requests: append new ones at the end.
    private enum Kind: UInt32 {
        case hello = 1, append, source, cursor, catchUp, changeKeys, rebuild, seal, compact, status
        case erase, retain, importRecording, annotate, revert, goBack, rebuildKeeping, sources
    }

    var bytes: [UInt8] {
        var writer = WireWriter()
        func put(_ kind: Kind, _ write: (inout WireWriter) -> Void = { _ in }) { writer.message(kind.rawValue, write) }
        switch self {
        case .hello(let lowest, let highest): put(.hello) { $0.numbers(UInt64(lowest), UInt64(highest)) }
        case .append(let events, let cursor, let token):
            put(.append) { append in
                for event in events { append.message(1) { $0.event(event) } }
                if let cursor { append.message(2) { $0.cursor(cursor) } }
                if let token { append.token(3, token) }
            }
        case .source(let name): put(.source) { $0.string(1, name) }
        case .cursor(let key): put(.cursor) { $0.string(1, key) }
        case .catchUp: put(.catchUp)
        case .changeKeys(let change): put(.changeKeys) { $0.keyringChange(change) }
        case .rebuild(let views, let keepsOld): put(keepsOld ? .rebuildKeeping : .rebuild) { $0.names(views) }
        case .goBack(let views): put(.goBack) { $0.names(views) }
        case .seal: put(.seal)
        case .compact: put(.compact)
        case .status: put(.status)
        case .sources: put(.sources)
        case .erase(let ranges, let reason, let request, let forgotten):
            put(.erase) { message in
                for range in ranges { message.message(1) { $0.numbers(range.lowerBound.rawValue, range.upperBound.rawValue) } }
                message.string(2, reason)
                message.string(3, request)
                switch forgotten {
                case .node(let node):
                    message.varint(4, UInt64(node.number))
                    message.varint(5, node.includesMentions ? 1 : 0)
                case .packet(let packet):
                    message.varint(6, UInt64(packet.id))
                    if let sender = packet.sender { message.varint(7, UInt64(sender)) }
                case nil: break
                }
            }
        case .retain(let last, let sizes):
            put(.retain) { message in
                message.varint(1, last.rawValue)
                for size in sizes { message.varint(2, size) }
            }
        case .importRecording(let file): put(.importRecording) { $0.string(1, file) }
        case .annotate(let annotations, let collision):
            put(.annotate) { message in
                for annotation in annotations { message.bytes(1, annotation.payload) }
                message.uint32(2, UInt32(collision.rawValue))
            }
        case .revert(let sequence): put(.revert) { $0.numbers(sequence.rawValue) }
        case .unknown(let number): writer.message(number) { _ in }
        }
        return writer.bytes
    }

    /// - Throws: `WireError` for bytes that are not protobuf; `.protocolBroken` for invalid requests.
    init(_ bytes: RawSpan, path: String) throws {
        var reader = WireReader(bytes)
        guard let field = try reader.next(), field.type == .lengthDelimited else {
            throw ControlError(.protocolBroken, path: path, "an empty request")
        }
        let body = reader.bytes(field)
        switch Kind(rawValue: field.number) {
        case .hello:
            let numbers = try body.controlNumbers(2)
            self = .hello(lowest: UInt32(clamping: numbers[0]), highest: UInt32(clamping: numbers[1]))
        case .append: self = try Self.append(body)
        case .source: self = .source(named: try body.controlText())
        case .cursor: self = .cursor(key: try body.controlText())
        case .catchUp: self = .catchUp
        case .changeKeys: self = .changeKeys(try KeyringChange(body, path: path))
        case .retain:
            var (last, sizes): (UInt64, [UInt64]) = (0, [])
            var fields = WireReader(body)
            while let field = try fields.next() {
                if field.number == 1 { last = field.scalar }
                if field.number == 2 { sizes.append(field.scalar) }
            }
            self = .retain(through: EventSequence(last), keeping: sizes)
        case .importRecording: self = .importRecording(file: try body.controlText())
        case .rebuild: self = .rebuild(views: try body.controlNames())
        case .rebuildKeeping: self = .rebuild(views: try body.controlNames(), keepsOld: true)
        case .goBack: self = .goBack(views: try body.controlNames())
        case .seal: self = .seal
        case .compact: self = .compact
        case .status: self = .status
        case .sources: self = .sources
        case .erase: self = try Self.erase(body, path: path)
        case .annotate: self = try Self.annotate(body, path: path)
        case .revert: self = .revert(EventSequence(try body.controlNumbers(1)[0]))
        case nil: self = .unknown(field.number)
        }
    }

    private static func annotate(_ body: RawSpan, path: String) throws -> ControlRequest {
        var annotations: [Annotation] = []
        var collision = AliasCollision.refuse
        var reader = WireReader(body)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                guard let annotation = Annotation(payload: reader.bytes(field)) else {
                    throw ControlError(.protocolBroken, path: path, "an annotation that cannot be read")
                }
                annotations.append(annotation)
            case 2: collision = AliasCollision(rawValue: UInt8(clamping: field.asUInt32)) ?? .refuse
            default: break
            }
        }
        return .annotate(annotations, collision)
    }

    private static func erase(_ body: RawSpan, path: String) throws -> ControlRequest {
        var ranges: [ClosedRange<EventSequence>] = []
        var (reason, request) = ("", "")
        var node: ErasedNode?
        var packet: ErasedPacket?
        var reader = WireReader(body)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                let numbers = try reader.bytes(field).controlNumbers(2)
                guard numbers[0] <= numbers[1] else {
                    throw ControlError(.protocolBroken, path: path, "a range that ends before it begins")
                }
                ranges.append(EventSequence(numbers[0])...EventSequence(numbers[1]))
            case 2: reason = reader.string(field)
            case 3: request = reader.string(field)
            case 4: node = ErasedNode(UInt32(truncatingIfNeeded: field.scalar))
            case 5: node?.includesMentions = field.scalar != 0
            case 6: packet = ErasedPacket(id: UInt32(truncatingIfNeeded: field.scalar))
            case 7: packet?.sender = UInt32(truncatingIfNeeded: field.scalar)
            default: break
            }
        }
        let forgotten = node.map { ErasureSubject.node($0) } ?? packet.map { .packet($0) }
        return .erase(ranges, reason: reason, request: request, forgetting: forgotten)
    }

    private static func append(_ body: RawSpan) throws(WireError) -> ControlRequest {
        var events: [NewEvent] = []
        var cursor: SourceCursor?
        var token: AppendToken?
        var reader = WireReader(body)
        while let field = try reader.next() {
            let content = reader.bytes(field)
            switch field.number {
            case 1: events.append(try NewEvent(control: content))
            case 2: cursor = try SourceCursor(control: content)
            case 3: token = try AppendToken(control: content)
            default: break
            }
        }
        return .append(events, cursor: cursor, token: token)
    }
}

extension WireWriter {
    /// As the fields 1, 2 and so on.
    mutating func numbers(_ numbers: UInt64...) {
        for (number, value) in zip(UInt32(1)..., numbers) { varint(number, value) }
    }

    mutating func token(_ number: UInt32, _ token: AppendToken) {
        message(number) { message in
            message.varint(1, token.first)
            message.fixed64(2, token.checksum)
        }
    }

    fileprivate mutating func event(_ event: NewEvent) {
        bytes(1, event.payload)
        uint32(2, UInt32(event.encoding.rawValue))
        uint32(3, event.source.rawValue)
        switch event.reception {
        case .live: break
        case .recorded(let time): int64(4, time.microseconds)
        case .unrecorded: bool(5, true)
        }
        if event.isMasked { bool(6, true) }
    }

    fileprivate mutating func names(_ names: [String]) { for name in names { string(1, name) } }

    fileprivate mutating func cursor(_ cursor: SourceCursor) {
        string(1, cursor.key)
        bytes(2, cursor.value)
        switch cursor.expected {
        case nil: break
        case .nothing: bool(3, true)
        case .value(let value): bytes(4, value)
        }
    }

    fileprivate mutating func keyringChange(_ change: KeyringChange) {
        switch change {
        case .addChannels(let channels):
            for channel in channels {
                message(1) { message in
                    message.string(1, channel.name)
                    message.bytes(2, channel.psk)
                    if channel.isAEAD { message.bool(3, true) }
                }
            }
        case .addPrivateKey(let key):
            message(2) { message in
                message.bytes(1, key.key)
                if let node = key.node { message.uint32(2, node) }
            }
        case .removeChannels(let name, let fingerprint, let isAEAD):
            message(3) { message in
                message.string(1, name)
                if let fingerprint { message.fixed64(2, fingerprint) }
                if let isAEAD { message.bool(3, isAEAD) }
            }
        case .removePrivateKeys(let node): message(4) { message in if let node { message.uint32(1, node) } }
        }
    }
}

extension AppendToken {
    init(control bytes: RawSpan) throws(WireError) {
        let numbers = try bytes.controlNumbers(2)
        self.init(first: numbers[0], checksum: numbers[1])
    }
}

extension NewEvent {
    fileprivate init(control bytes: RawSpan) throws(WireError) {
        self.init([], encoding: .note, source: .log)
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: payload = reader.bytes(field).asArray
            case 2: encoding = PayloadEncoding(rawValue: UInt8(truncatingIfNeeded: field.scalar))
            case 3: source = SourceID(rawValue: field.asUInt32)
            case 4: reception = .recorded(Timestamp(microseconds: field.asInt64))
            case 5: if field.asBool { reception = .unrecorded }
            case 6: isMasked = field.asBool
            default: break
            }
        }
    }
}

extension SourceCursor {
    fileprivate init(control bytes: RawSpan) throws(WireError) {
        self.init(key: "", value: [])
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: key = reader.string(field)
            case 2: value = reader.bytes(field).asArray
            case 3: if field.asBool { expected = .nothing }
            case 4: expected = .value(reader.bytes(field).asArray)
            default: break
            }
        }
    }
}

extension KeyringChange {
    fileprivate init(_ bytes: RawSpan, path: String) throws {
        var channels: [ChannelKey] = []
        var change: KeyringChange?
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            let body = reader.bytes(field)
            switch field.number {
            case 1: channels.append(try ChannelKey(control: body))
            case 2: change = .addPrivateKey(try PrivateKey(control: body))
            case 3:
                var (name, fingerprint, isAEAD): (String, UInt64?, Bool?) = ("", nil, nil)
                var fields = WireReader(body)
                while let field = try fields.next() {
                    if field.number == 1 { name = fields.string(field) }
                    if field.number == 2 { fingerprint = field.scalar }
                    if field.number == 3 { isAEAD = field.asBool }
                }
                change = .removeChannels(named: name, fingerprint: fingerprint, isAEAD: isAEAD)
            case 4:
                var fields = WireReader(body)
                change = .removePrivateKeys(node: try fields.next()?.asUInt32)
            default: break
            }
        }
        if change == nil && !channels.isEmpty { change = .addChannels(channels) }
        guard let change else { throw ControlError(.protocolBroken, path: path, "a change of keys that changes nothing") }
        self = change
    }
}

extension ChannelKey {
    fileprivate init(control bytes: RawSpan) throws {
        var (name, psk, isAEAD): (String, [UInt8], Bool) = ("", [], false)
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            if field.number == 1 { name = reader.string(field) }
            if field.number == 2 { psk = reader.bytes(field).asArray }
            if field.number == 3 { isAEAD = field.asBool }
        }
        try self.init(name: name, psk: psk, isAEAD: isAEAD)
    }
}

extension PrivateKey {
    fileprivate init(control bytes: RawSpan) throws {
        var (key, node): ([UInt8], UInt32?) = ([], nil)
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            if field.number == 1 { key = reader.bytes(field).asArray }
            if field.number == 2 { node = field.asUInt32 }
        }
        try self.init(node: node, key: key)
    }
}

extension RawSpan {
    /// The scalars of the fields 1 to `count`, 0 if one is missing.
    func controlNumbers(_ count: Int) throws(WireError) -> [UInt64] {
        var numbers = [UInt64](repeating: 0, count: count)
        var reader = WireReader(self)
        while let field = try reader.next() {
            let place = Int(field.number) - 1
            if numbers.indices.contains(place) { numbers[place] = field.scalar }
        }
        return numbers
    }

    /// The texts of the fields 1.
    fileprivate func controlNames() throws(WireError) -> [String] {
        var names: [String] = []
        var reader = WireReader(self)
        while let field = try reader.next() { if field.number == 1 { names.append(reader.string(field)) } }
        return names
    }

    /// The text of field 1.
    func controlText() throws(WireError) -> String {
        var text = ""
        var reader = WireReader(self)
        while let field = try reader.next() { if field.number == 1 { text = reader.string(field) } }
        return text
    }
}
