import Foundation
public import MeshLedger
import Projections
import ProtobufWire

extension NodeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<NodeRow>] {
        [
            TableColumn("node", .node { $0.number }, of: \.number, meaning: "Its id."),
            TableColumn("number", .number { $0.number }, of: \.number, meaning: "Its id as a number."),
            TableColumn("short_name", .textOrNone { $0.shortName }, of: \.shortName, meaning: "Up to four characters."),
            TableColumn("long_name", .textOrNone { $0.longName }, of: \.longName),
            TableColumn(
                "hardware", .valueOrNone(of: "HardwareModel") { $0.hardwareModel }, from: \.hardwareModel, meaning: "Its model."),
            TableColumn(
                "role",
                .name { $0.isKnown ? FieldTable.roleName($0.role) ?? String($0.role) : nil }
                    .named(.enumeration("Config.DeviceConfig.Role")), meaning: "Its role in the mesh."),
            TableColumn(
                "state", .name { $0.state.rawValue }.named(.these(State.allCases.map(\.rawValue))), of: \.state,
                meaning: "Whether it has introduced itself, or was only heard."
            ),
            TableColumn("last_heard", .time { $0.lastHeard }, of: \.lastHeard),
            TableColumn("first_heard", .time { $0.firstHeard }, of: \.firstHeard),
            TableColumn("is_time_of_import", .number { $0.isTimeOfImport }, of: \.isTimeOfImport, meaning: timeOfImportMeaning),
            TableColumn(
                "snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, of: \.snr, \.rssi, unit: "dB",
                meaning: "Signal-to-noise ratio of the last reception."),
            TableColumn(
                "rssi", .optional { $0.rssi }, of: \.rssi, unit: "dBm", meaning: "Signal strength of the last reception."),
            TableColumn("hops_away", .optional { $0.hopsAway }, of: \.hopsAway, meaning: "Hops of its last packet."),
            TableColumn(
                "via_mqtt", .number { $0.isViaMQTT }, from: \.isViaMQTT,
                meaning: "Whether its last packet came over the internet."),
            TableColumn(
                "channel", .nameOrNone { $0.channel }, of: \.channel, meaning: "The channel on which it introduced itself."),
            TableColumn("packets", .number { $0.packets }, of: \.packets, meaning: "How many packets were heard."),
            TableColumn("receptions", .number { $0.receptions }, of: \.receptions, meaning: "How often its packets were heard."),
            TableColumn(
                "unreadable", .number { $0.unreadable }, of: \.unreadable, meaning: "How many of its packets no key opens."),
            TableColumn("firmware", .nameOrNone { $0.firmware }, of: \.firmware, meaning: "The version of its firmware."),
            TableColumn(
                "is_licensed", .number { $0.isLicensed }, of: \.isLicensed, meaning: "Whether its owner is a licensed operator."),
            TableColumn(
                "is_unmessagable", .optional { $0.isUnmessagable }, of: \.isUnmessagable,
                meaning: "Whether nobody reads its messages."),
            TableColumn(
                "public_key", .optionalText { $0.publicKey.isEmpty ? nil : Data($0.publicKey).base64EncodedString() },
                of: \.publicKey,
                meaning: "Its first public key, in base64."),
            TableColumn(
                "has_key_conflict", .number { $0.hasKeyConflict }, of: \.hasKeyConflict,
                meaning: "Whether it announced other keys."),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("last_sequence", .number { $0.lastSequence }, of: \.lastSequence, meaning: "Its newest event."),
            TableColumn("is_favorite", .number { $0.isFavorite }, of: \.isFavorite),
            TableColumn("is_ignored", .number { $0.isIgnored }, of: \.isIgnored),
            TableColumn("archived_at", .time { $0.archivedAt }, of: \.archivedAt),
            TableColumn("alias", .textOrNone { $0.alias }, of: \.alias, meaning: "Its name in this ledger."),
            TableColumn("note", .textOrNone { $0.note }, of: \.note, meaning: "What a person wrote about it."),
        ] + olderRecipe(context) { $0.firstSequence }
    }
}

extension ChannelRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<ChannelRow>] {
        [
            TableColumn("channel", .text { $0.channel.title }, of: \.channel, meaning: channelMeaning),
            TableColumn("hash", .optional { $0.hash }, of: \.hash, meaning: "Its hash on the wire."),
            TableColumn(
                "readable", .number { $0.channel.isReadable }, from: \.channel, meaning: "Whether a known key opens its packets."),
            TableColumn(
                "key_fingerprint",
                .optionalText { $0.channel.keyFingerprint == 0 ? nil : ChannelKey.fingerprintText($0.channel.keyFingerprint) },
                from: \.channel,
                meaning: "Of its key, in hexadecimal digits."),
            TableColumn("packets", .number { $0.packets }, of: \.packets, meaning: "How many packets were heard."),
            TableColumn("receptions", .number { $0.receptions }, of: \.receptions, meaning: "How often they were heard."),
            TableColumn("first_heard", .time { $0.firstHeard }, of: \.firstHeard),
            TableColumn("last_heard", .time { $0.lastHeard }, of: \.lastHeard),
            TableColumn("is_time_of_import", .number { $0.isTimeOfImport }, of: \.isTimeOfImport, meaning: timeOfImportMeaning),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("last_sequence", .number { $0.lastSequence }, of: \.lastSequence, meaning: "Its newest event."),
        ]
    }
}

extension NodeChangeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<NodeChangeRow>] {
        [
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it was announced."),
            TableColumn("node", .node { $0.node }, of: \.node, meaning: "The node it is about."),
            TableColumn("changes", .texts { $0.changes.names }, from: \.changes, meaning: "What was new."),
            TableColumn("short_name", .textOrNone { $0.shortName }, of: \.shortName),
            TableColumn("long_name", .textOrNone { $0.longName }, of: \.longName),
            TableColumn(
                "hardware", .valueOrNone(of: "HardwareModel") { $0.hardwareModel }, from: \.hardwareModel, meaning: "Its model."),
            TableColumn("role", .value(of: "Config.DeviceConfig.Role") { $0.role }, of: \.role, meaning: "Its role in the mesh."),
            TableColumn("firmware", .nameOrNone { $0.firmware }, of: \.firmware, meaning: "The version of its firmware."),
            TableColumn(
                "public_key", .optionalText { $0.publicKey.isEmpty ? nil : Data($0.publicKey).base64EncodedString() },
                of: \.publicKey,
                meaning: "In base64."),
            TableColumn(
                "same_key_as", .nodeOrNone { $0.sameKeyAs }, of: \.sameKeyAs, meaning: "The node that had the key before."),
            TableColumn("kind", .enumeration { $0.kind }, of: \.kind, meaning: "Who announced it, and how."),
            TableColumn("gateway", .nodeOrNone { $0.gateway }, of: \.gateway, meaning: "Of the first readable reception."),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension HardwareRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<HardwareRow>] {
        [
            TableColumn("model", .value(of: "HardwareModel") { $0.model }, of: \.model),
            TableColumn("number", .number { $0.model }, of: \.model, meaning: "The model's number."),
            TableColumn("node", .node { $0.node }, of: \.node, meaning: "A node that is or was one."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it last said so."),
            TableColumn("first_time", .time { $0.firstTime }, of: \.firstTime, meaning: "When it first said so."),
            TableColumn("is_time_of_import", .number { $0.isTimeOfImport }, of: \.isTimeOfImport, meaning: timeOfImportMeaning),
            TableColumn("count", .number { $0.count }, of: \.count, meaning: "How often it said so."),
            TableColumn("firmware", .nameOrNone { $0.firmware }, of: \.firmware, meaning: "The version of its firmware."),
            TableColumn("target", .nameOrNone { $0.target }, of: \.target, meaning: "The build target of its firmware."),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension ChannelKey {
    /// A fingerprint in 16 hexadecimal digits.
    package static func fingerprintText(_ fingerprint: UInt64) -> String { Hexadecimal.text(bigEndian(fingerprint)) }
}
