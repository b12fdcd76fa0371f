import Foundation
public import MeshLedger
import Projections
import ProtobufWire

extension NodeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<NodeRow>] {
        tableColumns(
            first: """
                node number short_name long_name hardware role state last_heard first_heard is_time_of_import snr rssi hops_away \
                via_mqtt channel packets receptions unreadable firmware is_licensed is_unmessagable public_key has_key_conflict \
                first_sequence last_sequence
                """, last: "alias note",
            and: [
                TableColumn("node", .node { $0.number }, of: \.number, meaning: "Its id."),
                TableColumn("number", .number { $0.number }, of: \.number, meaning: "Its id as a number."),
                TableColumn(
                    "hardware", .valueOrNone(of: "HardwareModel") { $0.hardwareModel }, from: \.hardwareModel,
                    meaning: Meaning.hardware),
                TableColumn(
                    "role",
                    .name { $0.isKnown ? FieldTable.roleName($0.role) ?? String($0.role) : nil }
                        .named(.enumeration("Config.DeviceConfig.Role")), meaning: Meaning.role),
                TableColumn(
                    "state", .name { $0.state.rawValue }.named(.these(State.allCases.map(\.rawValue))), of: \.state,
                    meaning: "Whether it has introduced itself, or was only heard."),
                TableColumn(
                    "snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, of: \.snr, \.rssi, unit: "dB",
                    meaning: "Signal-to-noise ratio of the last reception."),
                TableColumn(
                    "via_mqtt", .number { $0.isViaMQTT }, from: \.isViaMQTT,
                    meaning: "Whether its last packet came over the internet."),
                TableColumn(
                    "public_key", .optionalText { $0.publicKey.isEmpty ? nil : Data($0.publicKey).base64EncodedString() },
                    of: \.publicKey, meaning: "Its first public key, in base64."),
            ]) + olderRecipe(context) { $0.firstSequence }
    }
}

extension ChannelRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<ChannelRow>] {
        tableColumns(
            first: "channel hash readable key_fingerprint",
            and: [
                TableColumn("channel", .text { $0.channel.title }, of: \.channel, meaning: Meaning.channel),
                TableColumn(
                    "readable", .number { $0.channel.isReadable }, from: \.channel,
                    meaning: "Whether a known key opens its packets."),
                TableColumn(
                    "key_fingerprint",
                    .optionalText {
                        $0.channel.keyFingerprint == 0 ? nil : ChannelKey.fingerprintText($0.channel.keyFingerprint)
                    }, from: \.channel, meaning: "Of its key, in hexadecimal digits."),
            ])
    }
}

extension NodeChangeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<NodeChangeRow>] {
        tableColumns(
            first: "time node changes short_name long_name hardware role firmware public_key same_key_as kind",
            last: "time_source sequence",
            and: [
                TableColumn("changes", .texts { $0.changes.names }, from: \.changes, meaning: "What was new."),
                TableColumn(
                    "hardware", .valueOrNone(of: "HardwareModel") { $0.hardwareModel }, from: \.hardwareModel,
                    meaning: Meaning.hardware),
                TableColumn(
                    "public_key", .optionalText { $0.publicKey.isEmpty ? nil : Data($0.publicKey).base64EncodedString() },
                    of: \.publicKey, meaning: "In base64."),
            ]) + olderRecipe(context) { $0.sequence }
    }
}

extension HardwareRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<HardwareRow>] {
        tableColumns(
            first: "model number", last: "first_sequence sequence",
            and: [TableColumn("number", .number { $0.model }, of: \.model, meaning: "The model's number.")]
        ) + olderRecipe(context) { $0.sequence }
    }
}

extension ChannelKey {
    /// A fingerprint in 16 hexadecimal digits.
    package static func fingerprintText(_ fingerprint: UInt64) -> String { Hexadecimal.text(bigEndian(fingerprint)) }
}
