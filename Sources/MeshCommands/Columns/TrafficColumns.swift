import MeshLedger
import MeshTables
import Meshtastic

extension MessageRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<MessageRow>] {
        [
            .time { $0.timeSource }, ShownColumn("channel", canCut: true), ShownColumn("from", isMain: true),
            ShownColumn("from_name", heading: "name", canCut: true), "to", ShownColumn("text", isText: true),
            ShownColumn("state", canCut: true), ShownColumn("receptions", heading: "heard"),
        ]
    }

    /// The fewest hops after which a gateway heard the packet, which takes a walk over the packets.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) throws -> [Column<MessageRow>] {
        guard isWanted("hops") else { return [] }
        var hops: [UInt64: UInt32] = [:]
        for port in [Port.text, Port.alert] {
            try ledger.forEachPacket(EventSelection(port: port)) { packet in
                hops[packet.firstSequence] = packet.receptions.compactMap(\.hopsAway).min().map { UInt32($0) }
                return true
            }
        }
        return [Column("hops") { .number(hops[$0.firstSequence]) }]
    }
}

extension TraceRouteRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<TraceRouteRow>] {
        [
            .time { $0.timeSource }, ShownColumn("from", isMain: true), ShownColumn("to", isMain: true),
            ShownColumn("is_answered", heading: "answered"), "hops",
            ShownColumn("towards", heading: "way there (SNR dB)", isText: true, shown: { text($0.towards) }),
            ShownColumn("back", heading: "way back (SNR dB)", isText: true, shown: { text($0.back) }),
        ]
    }

    /// Like `!00000001 > (5.25) !00000002 > (?) ?`.
    private static func text(_ hops: [Hop]) -> String {
        hops.enumerated().map { index, hop in
            let node = hop.node.map { NodeID.text($0) } ?? "?"
            return index == 0 ? node : "(\(hop.snr.map { "\($0)" } ?? "?")) \(node)"
        }.joined(separator: " > ")
    }
}

extension LinkRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<LinkRow>] {
        [
            "hearer", ShownColumn("heard", heading: "hears", isMain: true), "snr", "rssi",
            ShownColumn("evidence", heading: "known from"),
            .heard("time", heading: "last heard") { $0.isTimeOfImport },
            .heard("first_time", heading: "first heard") { $0.isTimeOfImport }, "direct", "reported", "traced",
        ]
    }

    /// The names of both nodes.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) -> [Column<LinkRow>] {
        [.nodeName("hearer_name", in: ledger, \.hearer), .nodeName("heard_name", in: ledger, \.heard)]
            .filter { isWanted($0.name) }
    }
}

extension GatewayRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<GatewayRow>] {
        [
            "gateway", ShownColumn("name", canCut: true), .heard("time", heading: "last heard") { $0.isTimeOfImport },
            ShownColumn("first_time", heading: "first heard", isDetail: true), "receptions",
            ShownColumn("packets", isMain: true), "nodes", "own",
            "unreadable",
            "lowest_snr", "highest_snr", "lowest_rssi", "highest_rssi", ShownColumn("sources", canCut: true),
        ]
    }
}

extension GatewayNodeRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<GatewayNodeRow>] {
        [
            "gateway", ShownColumn("node", isMain: true), .heard("time", heading: "last heard") { $0.isTimeOfImport },
            .heard("first_time", heading: "first heard") { $0.isTimeOfImport }, "receptions", "highest_snr",
        ]
    }
}

extension ChannelRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<ChannelRow>] {
        [
            ShownColumn("channel", canCut: true), "hash", "readable", ShownColumn("key_fingerprint", heading: "key"), "packets",
            "receptions", .heard("first_heard") { $0.isTimeOfImport }, .heard("last_heard") { $0.isTimeOfImport },
        ]
    }
}

extension PacketRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<PacketRow>] { shown(by: .heard) }

    /// A table shows the time by which it is sorted.
    static func shown(by clock: EventOrder.Clock) -> [ShownColumn<PacketRow>] {
        [
            ShownColumn("first_sequence", heading: "sequence"),
            .heard("time", isDetail: clock != .heard, isMain: true, isOfImport: \.isTimeOfImport),
            ShownColumn("time_source", isDetail: clock != .heard, isMinor: true),
            ShownColumn("arrival", isDetail: clock != .arrival, isMain: true), ShownColumn("id", isMinor: true),
            ShownColumn("from", isMain: true), "to", ShownColumn("port", isMain: true), ShownColumn("channel", canCut: true),
            ShownColumn("opening", heading: "opened", canCut: true, isMinor: true), ShownColumn("receptions", heading: "heard"),
            ShownColumn("gateways", isText: true, isMinor: true),
        ]
    }
}

extension ReceptionRecord: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<ReceptionRecord>] {
        [
            "packet", "from", "sequence", .heard("time", isMain: true) { $0.reception.heardSource == .imported },
            ShownColumn("time_source", isDetail: true), ShownColumn("arrival", isMinor: true), "gateway", "snr", "rssi",
            ShownColumn("hops_away", heading: "hops"),
            ShownColumn("source", canCut: true),
        ]
    }
}

extension IndexedEvent: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<IndexedEvent>] {
        [
            "sequence", "from", "to", "gateway", "channel", "port", "named",
            ShownColumn("is_first_reception", heading: "first reception"),
            ShownColumn("is_first_readable", heading: "first readable"), ShownColumn("is_repeat", heading: "repeat"),
        ]
    }
}

extension QuarantineRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<QuarantineRow>] {
        ["view", "sequence", ShownColumn("reason", isText: true)]
    }
}
