/// The name of the source of what a client of a shared radio sends: `RADIO/client ADDRESS`.
package enum ClientSourceName {
    private static let separator = "/client "

    /// What the names of all clients of a radio begin with.
    package static func prefix(radio: String) -> String { radio + separator }

    /// The name of the radio's own source; nil if the name is not that of a client.
    package static func radio(of name: String) -> String? {
        guard let client = name.ranges(of: separator).last, client.upperBound < name.endIndex else { return nil }
        return String(name[..<client.lowerBound])
    }
}
