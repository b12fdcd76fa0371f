import EventLog
import MeshLedger
import Meshtastic

/// The names that values of a column can have.
package enum KnownNames: Sendable {
    /// One of Meshtastic's enumerations; numbers without a name are printed as numbers.
    case enumeration(String)
    case ports
    /// Of events' payloads; those of other programs have numbers only.
    case encodings
    case these([String])

    package static func cases<Value: CaseIterable>(_ type: Value.Type) -> KnownNames { .these(Value.allCases.map { "\($0)" }) }

    package var all: [String] {
        switch self {
        case .enumeration(let name): FieldTable.standard.enumeration(named: name)?.values.map(\.name) ?? []
        case .ports: Self.portNames + ["UNKNOWN_APP", "unreadable"]
        case .encodings: PayloadEncoding.exportNames
        case .these(let names): names
        }
    }

    package static let portNames =
        FieldTable.standard.enumeration(named: "PortNum")?.values.map(\.name).filter { $0 != "MAX" && $0 != "UNKNOWN_APP" } ?? []
}
