import MeshViews
import Meshtastic
import Projections

/// A view of a program, for comparison with its released versions.
public struct ViewSchema: Sendable, Hashable {
    public var view: String
    public var version: UInt32
    public var fingerprint: String
    /// The input of the fingerprint.
    public var layout: String
}

extension Ledger.Maintenance {
    /// The versions of the views that a program has with these options.
    /// - Throws: `.schema` if a custom view is not valid.
    public static func schemas(_ options: LedgerOptions = LedgerOptions()) throws(LedgerError) -> [ViewSchema] {
        try Ledger.check(options, "")
        return Ledger.definitions(.standard, options).map {
            ViewSchema(
                view: $0.name, version: $0.recipe.version, fingerprint: $0.schema.fingerprint, layout: $0.schema.layout)
        }
    }

    /// The problems of versions compared with released ones: lines of a view's name, version and fingerprint. A released version never
    /// changes; a change requires a newer one.
    public static func changes(of schemas: [ViewSchema], against released: String) -> [String] {
        var problems: [String] = []
        for line in released.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let version = UInt32(words[1]) else {
                problems.append("not a released version: \(line)")
                continue
            }
            guard let schema = schemas.first(where: { $0.view == words[0] }) else {
                problems.append("the view \(words[0]) was released and is gone")
                continue
            }
            if schema.version < version {
                problems.append("the view \(words[0]) has version \(schema.version); the released one is \(version)")
            } else if schema.version == version, schema.fingerprint != words[2] {
                problems.append(
                    "the rows of the view \(words[0]) were changed (\(schema.fingerprint), released \(words[2])), but its version is still "
                        + "\(version): raise it")
            }
        }
        return problems
    }
}
