import MeshLedger

extension ChannelRow {
    static var columns: [Column<ChannelRow>] {
        [
            Column("channel", canCut: true) { .text($0.channel.title) },
            Column("hash") { .number($0.hash) },
            Column("readable") { .bool($0.channel.isReadable) },
            Column("key_fingerprint", heading: "key") {
                $0.channel.keyFingerprint == 0 ? .null : .text(String($0.channel.keyFingerprint, radix: 16))
            },
            Column("packets") { .unsigned($0.packets) },
            Column("receptions") { .unsigned($0.receptions) },
            Column("first_heard", heard: { $0.firstHeard }, atImport: { $0.isTimeOfImport }),
            Column("last_heard", heard: { $0.lastHeard }, atImport: { $0.isTimeOfImport }),
            Column("is_time_of_import", isDetail: true) { .bool($0.isTimeOfImport) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("last_sequence", isDetail: true) { .unsigned($0.lastSequence) },
        ]
    }
}
