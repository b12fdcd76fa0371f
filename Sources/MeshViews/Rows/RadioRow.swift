public import Meshtastic
import Projections
import ProtobufWire
public import ViewQuery

/// What a radio reports to its client about itself.
public enum RadioPart: UInt8, Sendable, CaseIterable, Codable {
    case myInfo = 3
    case config = 5
    case moduleConfig = 9
    case channel = 10
    case metadata = 13
    case deviceUI = 17
    case regionPresets = 19

    /// The message type of a part.
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

/// One part of a radio's configuration and hardware, as reported to its client when it differed from the last report. Secrets are zeroed.
///
/// Key in the `radios` table: source (4 bytes), part (1), section (1), slot (1), time (4), sequence (8), big-endian. Value: `Radio` of
/// `views.proto`.
public struct RadioRow: Sendable, Equatable {
    /// The number of the log's source: the radio.
    public var source: UInt32
    public var part: RadioPart
    /// For a configuration, the field number of the section in it; else 0.
    public var section: UInt8
    /// For a channel, its local index; else 0.
    public var slot: UInt8
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    /// The radio's node number, as reported before; 0 if unknown.
    public var node: UInt32 = 0
    /// The part's message, byte for byte except for secrets.
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

    /// The bytes of the key before the time, as a number.
    static func series(source: UInt32, part: RadioPart, section: UInt8, slot: UInt8) -> UInt64 {
        UInt64(source) << 24 | UInt64(part.rawValue) << 16 | UInt64(section) << 8 | UInt64(slot)
    }
}

extension RadioRow: ViewRow, DeclaredFields {
    public static let kind = "radio"
    public static let view = "radios"
    public static let table = "radios"

    static let declaration = RowDeclaration<RadioRow>([
        RowColumn(key: "source", \.source) { $0.source },
        RowColumn(key: "part", \.part, widths: [1], numbers: { [UInt64($0.rawValue)] }, get: { $0.part }),
        RowColumn(key: "section", \.section) { $0.section },
        RowColumn(key: "slot", \.slot) { $0.slot },
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time).table("When it reported."),
        RowColumn(key: "sequence", \.sequence) { $0.sequence }.table(Meaning.sequence),
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(2, "node", \.node, as: .fixed32.unlessZero, .node).table("The radio's id."),
        RowColumn(3, "content", \.content, as: .bytes),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 19, let part = RadioPart(rawValue: key.byte(at: 4)) else { return nil }
        let series = UInt64(key.bigEndianUInt32(at: 0)) << 24 | UInt64(key.bigEndianUInt32(at: 3)) & 0xff_ffff
        self.init(series: series, part: part, time: key.bigEndianUInt32(at: 7), sequence: key.bigEndianUInt64(at: 11))
        guard take(value) else { return nil }
    }
}
