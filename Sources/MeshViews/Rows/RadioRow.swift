public import Meshtastic
import ProtobufWire

/// What a radio tells its client of itself.
public enum RadioPart: UInt8, Sendable, CaseIterable, Codable {
    case myInfo = 3
    case config = 5
    case moduleConfig = 9
    case channel = 10
    case metadata = 13
    case deviceUI = 17
    case regionPresets = 19

    /// The message that a part is.
    var messageName: String {
        switch self {
        case .myInfo: "MyNodeInfo"
        case .config: "Config"
        case .moduleConfig: "ModuleConfig"
        case .channel: "Channel"
        case .metadata: "DeviceMetadata"
        case .deviceUI: "DeviceUIConfig"
        case .regionPresets: "LoRaRegionPresetMap"
        }
    }
}

/// One part of what a radio is set to and made of, as it told its client when it was another than before. Secrets are zeroes.
///
/// Key in the `radios` table: source (4 bytes), part (1), section (1), slot (1), time (4), sequence (8), big-endian. Value: `Radio` of
/// `views.proto`.
public struct RadioRow: Sendable, Equatable {
    /// The number of the log's source: the radio.
    public var source: UInt32
    public var part: RadioPart
    /// Of a configuration, the field number of the section in it; else 0.
    public var section: UInt8
    /// Of a channel, its local index; else 0.
    public var slot: UInt8
    /// Seconds since 1970, and whose clock that is.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    /// The node that the radio is, as it told before; 0 = not told.
    public var node: UInt32 = 0
    /// The part's message, byte for byte but for secrets.
    public var content: [UInt8] = []

    init(series: UInt64, part: RadioPart, time: UInt32, sequence: UInt64) {
        source = UInt32(truncatingIfNeeded: series >> 24)
        section = UInt8(truncatingIfNeeded: series >> 8)
        slot = UInt8(truncatingIfNeeded: series)
        self.part = part
        self.time = time
        self.sequence = sequence
    }

    /// Like `config.lora` or `channel.0`.
    public var title: String {
        switch part {
        case .config, .moduleConfig:
            let name = FieldTable.standard.message(named: part.messageName)?.field(UInt32(section))?.name
            return "\(part).\(name ?? String(section))"
        case .channel: return "\(part).\(slot)"
        case .myInfo, .metadata, .deviceUI, .regionPresets: return "\(part)"
        }
    }

    /// Every field of it, by name.
    public var dissected: DissectedMessage { Dissector.dissect(content.rawSpan, message: part.messageName) }

    // MARK: Storage

    /// The bytes of the key in front of the time, as a number.
    static func series(source: UInt32, part: RadioPart, section: UInt8, slot: UInt8) -> UInt64 {
        UInt64(source) << 24 | UInt64(part.rawValue) << 16 | UInt64(section) << 8 | UInt64(slot)
    }

    func encode(to writer: inout WireWriter) {
        writer.varint(1, UInt64(timeSource.rawValue))
        if node != 0 { writer.fixed32(2, node) }
        writer.bytes(3, content)
    }

    init(series: UInt64, part: RadioPart, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(series: series, part: part, time: time, sequence: sequence)
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
            case 2: node = field.asUInt32
            case 3: content = reader.bytes(field).asArray
            default: continue
            }
        }
    }
}
