import Foundation
import MeshLedger

/// A view of one row for each packet, in two versions: the second has another name for one property, one more and one less.
enum Stamps {
    struct One: StoredRow {
        var node: UInt32 = 0
        var sequence: UInt64 = 0
        var time: UInt32 = 0
        var port: UInt32 = 0
        static let view = "stamps"
        static let columns: [RowColumn<One>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(key: "sequence", \.sequence), RowColumn(1, "time", \.time, .time),
            RowColumn(2, "port", \.port),
        ]
        static let indexes: [RowIndex<One>] = [.index(\.time)]
    }

    struct Two: StoredRow {
        var node: UInt32 = 0
        var sequence: UInt64 = 0
        var heard: UInt32 = 0
        var unit = "seconds"
        static let view = "stamps"
        static let columns: [RowColumn<Two>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(key: "sequence", \.sequence), RowColumn(1, "heard", \.heard, .time),
            RowColumn(3, "unit", \.unit),
        ]
        static let indexes: [RowIndex<Two>] = [.index(\.heard)]
    }

    struct ViewOne: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<One>.total(100_000_000, by: \.time)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<One>) throws {
            try rows.update(One(node: event.packet.from, sequence: event.sequence)) { $0.time = event.time }
        }
    }

    struct ViewTwo: LedgerView {
        static let versions = [
            SchemaVersion(1),
            SchemaVersion(2, .lightweight([.renamed("heard", from: "time"), .removed("port"), .added("unit")])),
        ]
        static let cap = RowCap<Two>.total(100_000_000, by: \.heard)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<Two>) throws {
            try rows.update(Two(node: event.packet.from, sequence: event.sequence)) { $0.heard = event.time }
        }
    }
}

/// This process's memory without mapped files, in bytes.
private func anonymousMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""  // none without /proc
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
}

private func bytes(of view: String, _ folder: String) -> Int {
    let files = FileManager.default.enumerator(atPath: folder + "/views/" + view)?.compactMap { $0 as? String } ?? []
    return files.filter { $0.hasSuffix("data.mdb") }.map { name in
        var status = stat()
        return stat("\(folder)/views/\(view)/\(name)", &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }.max() ?? 0
}

/// Makes a ledger with a custom view, opens its file of version 1 with version 2, reads all rows in batches, and again beside a writer.
func runLarge(_ folder: String, rows: Int) async throws {
    let path = folder + "/large"
    var options = LedgerOptions(log: EventLogOptions(isDurable: false))
    options.views = [Stamps.ViewOne.self]
    options.caps.positions = 200
    let made = secondsNow()
    var ledger = try await makeLedger(path, count: rows, nodes: 2_000, options: options)
    try await ledger.close()
    print("{\"work\":\"make\",\"rows\":\(rows),\"seconds\":\(secondsNow() - made)}")
    var times: [[Double]] = [[], []]
    for (place, view) in [Stamps.ViewOne.self as any LedgerView.Type, Stamps.ViewTwo.self].enumerated() {
        for _ in 0..<5 {
            options.views = [view]
            let start = secondsNow()
            ledger = try await Ledger.open(at: path, options: options)
            if place == 1 {
                let first = try ledger.fetch(FetchDescriptor<Stamps.Two>(sortBy: [SortDescriptor(\.heard)], fetchLimit: 1))
                guard first.first?.unit == "seconds" else { throw Mismatch(description: "no row of version 2") }
            } else {
                _ = try ledger.fetch(FetchDescriptor<Stamps.One>(sortBy: [SortDescriptor(\.time)], fetchLimit: 1))
            }
            times[place].append((secondsNow() - start) * 1e3)
            try await ledger.close()
        }
    }
    print(
        "{\"work\":\"open version 1 with version 2\",\"rows\":\(rows),\"first_ms\":\(times[1][0]),\"again_ms\":\(median(times[1])),"
            + "\"version_1_ms\":\(median(times[0]))}")
    ledger = try await Ledger.open(at: path, options: options)
    let before = anonymousMemory()
    var (count, most) = (0, 0)
    try await ledger.enumerate(FetchDescriptor<Stamps.Two>()) { _ in
        count += 1
        if count.isMultiple(of: 10_000) { most = max(most, anonymousMemory()) }
    }
    guard count == rows else { throw Mismatch(description: "enumerated \(count) of \(rows) rows") }
    print("{\"work\":\"enumerate\",\"rows\":\(count),\"growth_bytes\":\(most - before)}")
    // Positions are capped, so new ones replace old ones: without a slow reader the file does not grow.
    let written = rows / 10
    func write(_ turn: UInt32, to ledger: Ledger) async throws {
        try await appendPositions(written / 20, nodes: 2_000, from: 1_790_000_000 + turn * 10_000, seed: UInt64(turn), to: ledger)
        try await ledger.catchUp()
    }
    for turn in 1...20 { try await write(UInt32(turn), to: ledger) }
    let alone = bytes(of: "positions", path)
    for turn in 21...40 { try await write(UInt32(turn), to: ledger) }
    let settled = bytes(of: "positions", path)
    var (read, rounds) = (0, 0)
    try await ledger.enumerate(FetchDescriptor<PositionRow>(), batchSize: 5_000, allowsMutations: true) { _ in
        read += 1
        if read.isMultiple(of: 5_000), rounds < 60 {
            rounds += 1
            try await write(UInt32(40 + rounds), to: ledger)
        }
    }
    let beside = bytes(of: "positions", path)
    print(
        "{\"work\":\"enumerate beside writes\",\"read\":\(read),\"flushes\":\(rounds),\"file_bytes\":\(settled),"
            + "\"growth_alone_bytes\":\(settled - alone),\"growth_bytes\":\(beside - settled)}")
    try await ledger.close()
}
