/// Strings in JSON.
package enum JSONText {
    /// In quotes. Control characters, line separators and marks that change the direction of text are escaped, so that no name can control a terminal
    /// or page.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.isControl:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may interpret it instead of showing it: controls, line ends, and marks that change the direction of text.
    package var isControl: Bool {
        switch value {
        case 0x20...0x7e: return false
        case 0x061c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: return true
        default: break
        }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
