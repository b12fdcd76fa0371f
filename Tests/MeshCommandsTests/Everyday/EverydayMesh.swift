import Foundation
import TestKit

/// A ledger into which recordings of three days were imported, its events as they came, and the rows that the independent fold makes of them.
struct EverydayMesh {
    typealias Row = [String: Any]

    /// A reception: what its bytes say, and what the independent fold's index knows of it.
    struct Reception {
        let sequence: Int
        let from: UInt32
        let to: UInt32
        let id: UInt32
        let gateway: UInt32
        /// Seconds since 1970, by the receiver's clock where that is plausible, else when it was imported.
        let heard: Int
        /// Whether its receiver's clock is.
        let isTimeKnown: Bool
        let hops: Int?
        /// Nil where it is not readable.
        let port: Int?
        /// Of a packet that came encrypted.
        let channelHash: Int?
        let named: [UInt32]
        let isFirst: Bool
    }

    /// A node of the recording of yesterday that has an alias.
    static let alias = "Rover"

    let folder: TemporaryFolder
    let rover: UInt32
    let receptions: [Reception]
    let sequencesOfLastImport: ClosedRange<Int>
    private let views: [String: [Row]]

    var environment: [String: String] { ["MESHLEDGER": folder.path + "/mesh.ledger"] }

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let program = try BuiltProgram.url()
        let day = Int(Date().timeIntervalSince1970) / 86_400 * 86_400
        let environment = ["MESHLEDGER": folder.path + "/mesh.ledger"]
        func run(_ line: String) throws {
            let run = try FinishedProcess(
                program, line.split(separator: " ").map(String.init), adding: environment, in: folder.url)
            guard run.status == 0 else { throw ProgramFailure("\(line): \(run.text)") }
        }
        func iso(_ seconds: Int) -> String { Date(timeIntervalSince1970: Double(seconds)).ISO8601Format() }
        try FileManager.default.createDirectory(at: folder.file("captures"), withIntermediateDirectories: true)
        // Yesterday's lasts two hours and is far from this time of yesterday, where windows of a day begin and move while the test runs.
        let yesterday = (36_000..<60_000).contains(Int(Date().timeIntervalSince1970) - day) ? day - 20_000 : day - 40_000
        // One begins half an hour before the day as of which the node table is asked for.
        try run(
            "simulate --seed 3 --nodes 12 --packets 900 --start 2025-09-14T23:45:00Z --to captures/old.bin --as length-prefixed")
        try run(
            "simulate --seed 4 --nodes 40 --packets 2500 --start \(iso(yesterday)) --to captures/yesterday.base64 --as envelopes"
        )
        try run("simulate --seed 5 --nodes 25 --packets 1200 --to captures/now.base64 --as envelopes")
        try run("init")
        for name in ["now.base64", "old.bin", "yesterday.base64"] { try run("import captures/\(name)") }
        sequencesOfLastImport = 1_200 + 900 + 1...1_200 + 900 + 2_500
        let fold = try OracleFold(of: environment["MESHLEDGER"] ?? "", in: folder)
        func folded() throws -> [String: [Row]] {
            try fold.exportEvents()
            try OraclePython.run("fold.py", [folder.file("events.jsonl").path], to: folder.file("rows.jsonl"))
            return Dictionary(grouping: try Self.lines(folder.file("rows.jsonl"))) { $0["view"] as? String ?? "" }
        }
        let first = try folded()
        let counts = Dictionary(grouping: first["telemetry"] ?? []) { $0["node"] as? Int ?? 0 }
        let tracked = (first["positions"] ?? []).filter { (day - 86_400..<day).contains($0["time"] as? Int ?? 0) }
        rover = UInt32(tracked.compactMap { $0["node"] as? Int }.max { counts[$0]?.count ?? 0 < counts[$1]?.count ?? 0 } ?? 0)
        try run("nodes alias !\(String(format: "%08x", rover)) \(Self.alias)")
        views = try folded()
        receptions = try Self.receptions(views["packets"] ?? [], Self.lines(folder.file("events.jsonl")))
        // Two ledgers of which the second has the later recordings in addition.
        for (name, files) in [("old", ["old.bin"]), ("new", ["yesterday.base64", "old.bin"])] {
            try run("init \(name).ledger")
            for file in files { try run("import --ledger \(name).ledger captures/\(file)") }
        }
    }

    func rows(_ view: String) -> [Row] { views[view] ?? [] }

    /// Runs a command line as a shell does, in the folder with the captures.
    func run(_ line: String, _ more: String = "") throws -> FinishedProcess {
        let path = try BuiltProgram.url().deletingLastPathComponent().path
        let more = more.isEmpty ? "" : " \(more) 2>/dev/null"
        return try FinishedProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "PATH='\(path)':$PATH; \(line)\(more)"], adding: environment, in: folder.url)
    }

    /// The packets with all their receptions, by sender and id.
    var packets: [[Reception]] {
        Array(Dictionary(grouping: receptions.filter { $0.from != 0 && $0.from != .max }) { "\($0.from) \($0.id)" }.values)
    }

    private static func receptions(_ index: [Row], _ events: [Row]) -> [Reception] {
        let payloads = Dictionary(uniqueKeysWithValues: events.map { ($0["sequence"] as? Int ?? 0, $0) })
        return index.compactMap { row in
            guard let sequence = row["sequence"] as? Int, let event = payloads[sequence],
                let bytes = Data(base64Encoded: event["payload_b64"] as? String ?? ""),
                let packet = PlainFields(bytes)?.bytes(1).flatMap({ PlainFields($0) })
            else { return nil }
            let arrival = (event["arrival"] as? String).flatMap { try? Date($0, strategy: .iso8601Fraction) }
            let arrived = Int(arrival?.timeIntervalSince1970 ?? 0)
            let received = Int(packet.number(7) ?? 0)
            let (limit, start) = (Int(packet.number(9) ?? 0), Int(packet.number(15) ?? 0))
            let isTimeKnown = (1_577_836_800...arrived + 300).contains(received)
            func number(_ name: String) -> UInt32 { UInt32(row[name] as? Int ?? 0) }
            return Reception(
                sequence: sequence, from: number("from"), to: number("to"), id: UInt32(packet.number(6) ?? 0),
                gateway: number("gateway"), heard: isTimeKnown ? received : arrived, isTimeKnown: isTimeKnown,
                hops: start > 0 && limit <= start ? start - limit : nil, port: row["port"] as? Int,
                channelHash: packet.bytes(5) == nil ? nil : Int(packet.number(3) ?? 0),
                named: (row["named"] as? [Int] ?? []).map { UInt32($0) }, isFirst: row["is_first_reception"] as? Bool ?? false)
        }
    }

    private static func lines(_ file: URL) throws -> [Row] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? Row
        }
    }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
    fileprivate static var iso8601Fraction: Date.ISO8601FormatStyle { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}

/// The fields of a protobuf message, read by nothing of ours.
struct PlainFields {
    private var numbers: [Int: UInt64] = [:]
    private var parts: [Int: Data] = [:]

    init?(_ data: Data) {
        var rest = data[...]
        func varint() -> UInt64? {
            var (value, shift) = (UInt64(0), UInt64(0))
            while let byte = rest.popFirst(), shift < 64 {
                value |= UInt64(byte & 0x7f) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
        func fixed(_ count: Int) -> UInt64? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        while !rest.isEmpty {
            guard let tag = varint() else { return nil }
            let field = Int(tag >> 3)
            switch tag & 7 {
            case 0:
                guard let value = varint() else { return nil }
                numbers[field] = value
            case 1, 5:
                guard let value = fixed(tag & 7 == 1 ? 8 : 4) else { return nil }
                numbers[field] = value
            case 2:
                guard let length = varint(), length <= rest.count else { return nil }
                parts[field] = Data(rest.prefix(Int(length)))
                rest = rest.dropFirst(Int(length))
            default: return nil
            }
        }
    }

    func number(_ field: Int) -> UInt64? { numbers[field] }
    func bytes(_ field: Int) -> Data? { parts[field] }
    func float(_ field: Int) -> Double? { numbers[field].map { Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))) } }
}
