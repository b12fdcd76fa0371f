import Foundation
import Yams

/// A mapping with known keys in a configuration file. Errors name the line.
struct ConfigNode {
    let file: String
    /// What it configures, for messages.
    let what: String
    private let line: Int
    private var values: [String: Node] = [:]

    /// - Parameter report: takes unknown keys, which are otherwise thrown.
    /// - Throws: `CommandError` for unknown keys, each on a line with a suggestion, or for a repeated one.
    init(_ node: Node, keys: [String], what: String, file: String, report: ((CommandError) -> Void)? = nil) throws {
        self.file = file
        self.what = what
        line = node.mark?.line ?? 1
        if node.isEmpty { return }
        guard let mapping = node.mapping else {
            throw Self.error(file, line, "\(what) needs keys with values, such as \(keys[0]): …")
        }
        var unknown: [CommandError] = []
        for (key, value) in mapping {
            let line = key.mark?.line ?? line
            guard let name = key.scalar?.string, keys.contains(name) else {
                let name = key.scalar?.string ?? "?"
                let advice = KnownName.suggestion(
                    for: name, among: keys, then: "its keys are \(keys.joined(separator: ", "))")
                unknown.append(Self.error(file, line, "\(what) has no key \(name)\(advice)"))
                continue
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw Self.error(file, line, "\(what) has \(name) twice")
            }
        }
        guard let report else {
            try Self.throwAll(unknown)
            return
        }
        for mistake in unknown { report(mistake) }
    }

    /// Throws mistakes, if there are any, as one error.
    static func throwAll(_ mistakes: [CommandError]) throws {
        guard mistakes.isEmpty else { throw CommandError(.badData, lines: mistakes.flatMap(\.lines)) }
    }

    static func error(_ file: String, _ line: Int, _ text: String) -> CommandError {
        CommandError(.badData, "\(file):\(line): \(text)")
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    /// An error at a key.
    func error(_ key: String?, _ text: String) -> CommandError {
        Self.error(file, key.flatMap { values[$0]?.mark?.line } ?? line, text)
    }

    func child(_ key: String, keys: [String], what: String) throws -> ConfigNode? {
        try values[key].map { try ConfigNode($0, keys: keys, what: what, file: file) }
    }

    /// The elements of a list.
    func list(_ key: String) throws -> [Node] {
        guard let node = values[key], !node.isEmpty else { return [] }
        guard let sequence = node.sequence else {
            throw error(key, "\(key) is a list: each element on a line of its own, after a dash")
        }
        return Array(sequence)
    }

    func string(_ key: String) throws -> String? {
        guard let node = values[key] else { return nil }
        guard let text = node.scalar?.string, !text.isEmpty else { throw error(key, "\(key) needs a value") }
        return text
    }

    func strings(_ key: String) throws -> [String]? {
        guard let node = values[key] else { return nil }
        if let text = node.scalar?.string, !text.isEmpty { return [text] }
        return try list(key).map { element in
            guard let text = element.scalar?.string, !text.isEmpty else { throw error(key, "\(key) is a list of texts") }
            return text
        }
    }

    func bool(_ key: String) throws -> Bool? {
        guard let text = try string(key) else { return nil }
        switch text {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw error(key, "\(key) is true or false, not \(text)")
        }
    }

    func number(_ key: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = try string(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw error(key, "\(key) is a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    func duration(_ key: String) throws -> Int64? {
        guard let text = try string(key) else { return nil }
        guard let duration = DurationArgument(argument: text) else {
            throw error(key, "\(key) is a duration such as 90d or 12h, not \(text)")
        }
        return duration.seconds
    }

    func size(_ key: String) throws -> Int? {
        guard let text = try string(key) else { return nil }
        guard let size = SizeArgument(argument: text) else {
            throw error(key, "\(key) is a size with its unit, such as 10GB or 500MB, not \(text)")
        }
        return size.bytes
    }
}

extension Node {
    /// Whether the value is missing.
    fileprivate var isEmpty: Bool { scalar?.string.isEmpty ?? false }
}
