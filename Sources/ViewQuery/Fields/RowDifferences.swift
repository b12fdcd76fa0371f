public import Projections

/// The differences between two layouts of rows.
public struct RowDifferences: Sendable {
    public var changes: [RowChange] = []
    /// Why rows of the old layout cannot be read in the new one, in words; nil if all of them can.
    public var obstacle: String?

    private struct Field {
        var name: String
        var layout: String
    }

    /// - Parameters: layouts as `QueryRow.layout` has them.
    public init(from old: String, to new: String) {
        let (before, after) = (Self.parse(old), Self.parse(new))
        if before.keys != after.keys { obstacle = "the key is different" }
        for (number, field) in before.fields.sorted(by: { $0.key < $1.key }) {
            guard let other = after.fields[number] else {
                changes.append(.removed(field.name))
                continue
            }
            if other.name != field.name { changes.append(.renamed(other.name, from: field.name)) }
            if other.layout != field.layout {
                obstacle = "\(other.name) is stored as \(other.layout) under number \(number), which was \(field.layout)"
            }
        }
        for (number, field) in after.fields.sorted(by: { $0.key < $1.key }) where before.fields[number] == nil {
            changes.append(.added(field.name))
        }
    }

    private static func parse(_ layout: String) -> (keys: [String], fields: [String: Field]) {
        var (keys, fields): ([String], [String: Field]) = ([], [:])
        for line in layout.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            if words.first == "table" {
                keys.append(String(line))
            } else if words.count == 3, words[0] == "key" {
                // The name of a part of the key may change: its place is what counts.
                keys.append(words[2])
            } else if words.count == 3, UInt32(words[0]) != nil {
                fields[words[0]] = Field(name: words[1], layout: words[2])
            } else if words.count >= 2 {
                fields[words[0]] = Field(name: words[0], layout: words.dropFirst().joined(separator: " "))
            }
        }
        return (keys, fields)
    }
}
