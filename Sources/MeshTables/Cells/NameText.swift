package import Meshtastic

extension String {
    /// `latitudeE7` as `latitude_e7`, the form of column names in JSON and CSV.
    package var snakeCased: String {
        var name = ""
        var wasSmall = false
        for character in self {
            if character.isUppercase, wasSmall { name += "_" }
            wasSmall = character.isLowercase
            name += character.lowercased()
        }
        return name
    }
}

extension NodeID {
    package static func addressee(_ number: UInt32) -> String { number == broadcast ? everyone : text(number) }
}

extension FieldTable {
    package static func valueName(_ number: UInt32, of enumeration: String) -> String {
        let name = standard.enumeration(named: enumeration).flatMap { table in
            Int32(exactly: number).flatMap(table.name(of:))
        }
        return name ?? String(number)
    }

    /// A packet that no key opens has no known port.
    package static func portText(_ port: UInt32, isReadable: Bool) -> String {
        port != 0 || isReadable ? portName(port) ?? String(port) : "unreadable"
    }
}
