import Foundation

/// The names that rotation gives to the files that had a name before: `mesh.log.1`, `mesh.log.2.gz`, `mesh.log-20261126`, `mesh-20261126.log`.
struct RotatedNames {
    /// From the newest to the oldest.
    private(set) var numbered: [String] = []
    /// From the newest to the oldest.
    private(set) var dated: [String] = []
    /// Others that begin like them, in no known order.
    private(set) var others: [String] = []

    private static let compressions = [".gz", ".zst", ".xz", ".bz2", ".lz4", ".Z"]
    /// Fewer digits are a number, not a date.
    private static let dateDigits = 6

    init(of name: String, among names: [String]) {
        let url = URL(fileURLWithPath: name)
        let beginning = url.deletingPathExtension().lastPathComponent + "-"
        let ending = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        var numbers: [(number: Int, name: String)] = []
        var dates: [(date: Substring, name: String)] = []
        // Of a file and its compressed copy, the shorter name comes first.
        for rotated in names.sorted() {
            let stems = [name + ".", name + "-", beginning]
            guard rotated != name, let stem = stems.first(where: rotated.hasPrefix) else { continue }
            let compression = Self.compressions.first(where: rotated.hasSuffix)
            var rest = rotated.dropFirst(stem.count).dropLast(compression?.count ?? 0)
            if stem == beginning, stem != name + "-" {
                guard rest.hasSuffix(ending) else { continue }
                rest = rest.dropLast(ending.count)
            }
            if Self.isDate(rest) {
                dates.append((rest, rotated))
            } else if stem == name + ".", rest.allSatisfy(\.isASCIIDigit), let number = Int(rest) {
                numbers.append((number, rotated))
            } else {
                others.append(rotated)
            }
        }
        numbered = numbers.sorted { ($0.number, $0.name) < ($1.number, $1.name) }.map(\.name)
        dated = dates.sorted { $0.date == $1.date ? $0.name < $1.name : $0.date > $1.date }.map(\.name)
    }

    private static func isDate(_ text: Substring) -> Bool {
        text.count(where: \.isASCIIDigit) >= dateDigits && text.allSatisfy { $0.isASCIIDigit || "-_.:T".contains($0) }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
