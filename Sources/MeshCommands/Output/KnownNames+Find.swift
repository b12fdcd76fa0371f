import EventLog
import MeshLedger
import MeshTables
import Meshtastic

extension KnownNames {
    /// The name that somebody means: in any case, or as its number.
    /// - Throws: a `CommandError` with 66 that lists the names, for any other text.
    func name(for text: String, of what: String) throws(CommandError) -> String {
        if let number = UInt32(text) {
            switch self {
            case .enumeration(let name): return CellValue.name(number, of: name).plain
            case .ports: return FieldTable.portName(number) ?? text
            case .encodings: return UInt8(exactly: number).flatMap { PayloadEncoding(rawValue: $0).exportName } ?? text
            case .these: break
            }
        }
        if case .ports = self, let number = FieldTable.port(named: text), let name = FieldTable.portName(number) { return name }
        return try KnownName.find(text, what, among: all)
    }

    /// The number of a name; nil where the names have none.
    func number(of text: String, in what: String) throws(CommandError) -> UInt32? {
        guard UInt32(text) == nil else { return UInt32(text) }
        let name = try name(for: text, of: what)
        switch self {
        case .enumeration(let table):
            let values = FieldTable.standard.enumeration(named: table)?.values ?? []
            return values.first { $0.name == name }.flatMap { UInt32(exactly: $0.number) }
        case .ports: return FieldTable.port(named: name)
        case .encodings, .these: return nil
        }
    }
}
