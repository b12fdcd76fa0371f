import Foundation
import Meshtastic
import TestKit

/// A value of a JSON text.
enum JSON: Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {  // each kind is tried in turn
            self = .bool(flag)
        } else if let number = try? value.decode(Double.self) {  // as above
            self = .number(number)
        } else if let text = try? value.decode(String.self) {  // as above
            self = .text(text)
        } else if let list = try? value.decode([JSON].self) {  // as above
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }
}

/// A decoded value as the oracle should print it.
indirect enum Printed {
    case number(Int64)
    case float(Float)
    case bool(Bool)
    case text(String)
    case bytes([UInt8])
    case enumeration(String, UInt32)
    case list([Printed])
    case object([String: Printed])

    /// Nil when the oracle prints the same; else the path of the first difference.
    func difference(from json: JSON?, _ names: FactNames, _ path: String = "") -> String? {
        switch (self, json) {
        case (.object(let ours), .object(let theirs)):
            for key in Set(ours.keys).union(theirs.keys).sorted() {
                guard let value = ours[key] else { return "\(path).\(key) is missing here" }
                if let found = value.difference(from: theirs[key], names, "\(path).\(key)") { return found }
            }
            return nil
        case (.list(let ours), .list(let theirs)):
            guard ours.count == theirs.count else { return "\(path) has \(ours.count) elements, not \(theirs.count)" }
            for (index, pair) in zip(ours, theirs).enumerated() {
                if let found = pair.0.difference(from: pair.1, names, "\(path)[\(index)]") { return found }
            }
            return nil
        case (.number(let ours), .number(let theirs)) where Double(ours) == theirs: return nil
        case (.number(let ours), .text(let theirs)) where String(ours) == theirs: return nil
        case (.float(let ours), .number(let theirs)) where ours == Float(theirs): return nil
        case (.float(let ours), .text("NaN")) where ours.isNaN: return nil
        case (.float(.infinity), .text("Infinity")), (.float(-.infinity), .text("-Infinity")): return nil
        case (.bool(let ours), .bool(let theirs)) where ours == theirs: return nil
        case (.text(let ours), .text(let theirs)) where ours.utf8.elementsEqual(theirs.utf8): return nil
        case (.bytes(let ours), .text(let theirs)) where Data(ours).base64EncodedString() == theirs: return nil
        case (.enumeration(let type, let ours), .text(let theirs)) where names.number(of: theirs, in: type) == Int64(ours):
            return nil
        case (.enumeration(_, let ours), .number(let theirs)) where Int32(bitPattern: ours) == Int32(theirs): return nil
        default: return "\(path): \(self) here, \(String(describing: json)) there"
        }
    }
}

/// Names of enum values and metrics, from the official package.
struct FactNames {
    struct Field {
        var name: String
        var type: String
        var isImplicit: Bool
        var isRepeated: Bool
    }

    private var values: [String: Int64] = [:]
    private var fields: [String: Field] = [:]

    init() throws {
        for line in try Self.lines(official: false) {
            let row = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            if row[0] == "enum_value" { values["\(row[2].dropFirst(11)).\(row[3])"] = Int64(row[4]) }
            guard row[0] == "field" else { continue }
            fields["\(row[2].dropFirst(11)).\(row[4])"] = Field(
                name: row[3], type: row[5], isImplicit: row[9] == "implicit", isRepeated: row[8].hasPrefix("repeated"))
        }
    }

    /// The schema as the official package has it, with or without the fields that `Tests/Oracle/schema.py` adds; and as the facts of the shared
    /// folder have it, where they are.
    static func lines(official: Bool) throws -> [Substring] {
        let facts = SharedFolder.exists ? try String(contentsOf: SharedFolder.file("wire/wire_facts.tsv"), encoding: .utf8) : ""
        let printed =
            OraclePython.path == nil ? "" : try OraclePython.run("decode.py", ["--facts"] + (official ? ["official"] : []))
        return (printed + facts).split(separator: "\n")
    }

    func number(of name: String, in type: String) -> Int64? { values["\(type).\(name)"] }
    func field(_ number: UInt32, of message: String) -> Field? { fields["\(message).\(number)"] }
}
