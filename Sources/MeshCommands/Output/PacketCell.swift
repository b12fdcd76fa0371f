import EventLog
import MeshLedger
import Meshtastic

/// Values that lists of events and of packets have.
enum PacketCell {
    static func node(_ number: UInt32) -> CellValue { .text(number == NodeID.broadcast ? "^all" : NodeID.text(number)) }

    /// What no key opens has no port that is known.
    static func port(_ port: UInt32, isReadable: Bool) -> CellValue {
        guard port != 0 || isReadable else { return .text("unreadable") }
        return .text(FieldTable.portName(port) ?? String(port))
    }

    static func name(_ opening: Opening) -> CellValue { .text(openings[Int(opening.rawValue)]) }

    static let portNames =
        FieldTable.standard.enumeration(named: "PortNum")?.values.map(\.name).filter { $0 != "MAX" && $0 != "UNKNOWN_APP" } ?? []

    static let heardSources = KnownNames.these(["recorded", "receiver", "arrival", "import"])

    /// `import` where nothing tells when it was heard, and the time is that of its import.
    static func name(_ source: HeardSource) -> CellValue {
        switch source {
        case .recorded: .text("recorded")
        case .receiver: .text("receiver")
        case .arrival: .text("arrival")
        case .imported: .text("import")
        }
    }

    /// What a table shows of a time that is only that of an import; nil for others.
    static func imported(_ time: Timestamp, _ source: HeardSource) -> String? {
        source == .imported ? TimeText.imported(UInt32(clamping: time.seconds)) : nil
    }

    /// Made once: the name of a case is looked up in the program's metadata.
    private static let openings: [String] = (0...(Opening.allCases.map(\.rawValue).max() ?? 0)).map { number in
        Opening(rawValue: number).map { "\($0)" } ?? ""
    }
}
