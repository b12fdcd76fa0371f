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

    static let heardSources = KnownNames.these(["recorded", "rx_time", "arrival", "import"])

    /// `import` where nothing tells when it was heard, and the time is that of its import.
    static func name(_ source: HeardSource) -> CellValue {
        switch source {
        case .recorded: .text("recorded")
        case .receiver: .text("rx_time")
        case .arrival: .text("arrival")
        case .imported: .text("import")
        }
    }

    /// Made once: the name of a case is looked up in the program's metadata.
    private static let openings: [String] = (0...(Opening.allCases.map(\.rawValue).max() ?? 0)).map { number in
        Opening(rawValue: number).map { "\($0)" } ?? ""
    }
}
