import Foundation
import TestKit

/// Damages files of recorded traffic record by record; the files themselves stay of their format.
enum Damage {
    /// Of ten records one is removed, one comes twice, and three have a few bytes changed, cut or inserted.
    static func records(of file: Data, _ kind: String, _ generator: inout SeededGenerator) throws -> Data {
        var damaged = Data()
        for record in try split(file, kind) {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: continue
            case 1: damaged += written(record, kind) + written(record, kind)
            case 2...4: damaged += written(changed(record, &generator), kind)
            default: damaged += written(record, kind)
            }
        }
        return damaged
    }

    private static func changed(_ record: Record, _ generator: inout SeededGenerator) -> Record {
        var changed = record
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !changed.bytes.isEmpty {
            let place = Int.random(in: 0..<changed.bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: changed.bytes.removeLast(min(changed.bytes.count - 1, Int.random(in: 1...20, using: &generator)))
            case 1: changed.bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 2: changed.bytes.remove(at: place)
            case 3: changed.bytes[place] = UInt8.random(in: 0...255, using: &generator)
            default: changed.bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
        }
        return changed.bytes.isEmpty ? record : changed
    }

    /// The packet's bytes, and what else a line says.
    private struct Record {
        var bytes: [UInt8]
        var line: [String: Any] = [:]
    }

    private static func isLine(_ kind: String) -> Bool { kind.contains("jsonl") }

    private static func split(_ file: Data, _ kind: String) throws -> [Record] {
        if kind == "stream" || kind == "length-prefixed" { return frames(Array(file), isStream: kind == "stream") }
        return try file.split(separator: 10).map { line in
            guard isLine(kind) else { return Record(bytes: Array(Data(base64Encoded: line) ?? Data())) }
            let object = try JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:]
            let text = object["raw_b64"] as? String ?? ""
            return Record(bytes: Array(Data(base64Encoded: text) ?? Data()), line: object)
        }
    }

    private static func frames(_ file: [UInt8], isStream: Bool) -> [Record] {
        var records: [Record] = []
        var place = 0
        while place + 4 <= file.count {
            let head = file[place..<place + 4].map(Int.init)
            let length = isStream ? head[2] << 8 | head[3] : head[0] | head[1] << 8 | head[2] << 16 | head[3] << 24
            records.append(Record(bytes: Array(file[place + 4..<place + 4 + length])))
            place += 4 + length
        }
        return records
    }

    private static func written(_ record: Record, _ kind: String) -> Data {
        let count = record.bytes.count
        switch kind {
        case "stream": return Data([0x94, 0xc3, UInt8(count >> 8), UInt8(count & 255)] + record.bytes)
        case "length-prefixed": return Data([UInt8(count & 255), UInt8(count >> 8 & 255), 0, 0] + record.bytes)
        default: break
        }
        let text = Data(record.bytes).base64EncodedString()
        guard isLine(kind) else { return Data((text + "\n").utf8) }
        var line = record.line
        line["raw_b64"] = text
        let json = (try? JSONSerialization.data(withJSONObject: line, options: .sortedKeys)) ?? Data()
        return json + Data([10])
    }
}
