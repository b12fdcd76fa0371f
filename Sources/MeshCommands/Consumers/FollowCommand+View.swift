import EventLog
import Foundation
import MeshLedger
import MeshTables
import Meshtastic
import Projections
import ProtobufWire

extension FollowFeedCommand {
    func followView(_ view: String) async throws {
        try await ledger.reading { ledger in
            let view = try KnownName.find(view, "view", among: ledger.viewNames)
            let consumer = try ledger.changes.consumer(named: consumer, of: view, fromNow: from.start == .now, restarts: restart)
            defer { consumer.close() }
            let (batch, follow, restart) = (batch, follow, restart)
            _ = try await StopSignals.cancelling {
                try await ReaderWatch.endingIfStuck {
                    let feed = try ViewFeed(ledger, view)
                    if restart { try feed.writeReset() }
                    while !Task.isCancelled {
                        let news = try follow ? await consumer.next(limit: batch) : consumer.available(limit: batch)
                        guard let news else { return }
                        guard !news.changes.isEmpty else { return }
                        guard try await feed.deliver(news.changes) else { return }
                        try consumer.acknowledge(news)
                    }
                }
            }
        }
    }
}

/// Writes changes as lines and hands them to the reader.
private final class ViewFeed {
    /// Names that nodes take meanwhile are known after this time.
    private static let longestNames = Duration.seconds(1)

    private let ledger: Ledger
    private let view: String
    private let output = StandardOutput()
    private var cells: RowCells
    private var cellsTime = ContinuousClock.now

    init(_ ledger: Ledger, _ view: String) throws {
        (self.ledger, self.view) = (ledger, view)
        cells = try RowCells(ledger)
        output.endTornLine()
    }

    func writeReset() throws {
        output.line(CellValue.object([.init(name: "op", value: .text("reset")), .init(name: "view", value: .text(view))]).json)
        try output.sync()
    }

    /// - Returns: False if it was cancelled before the program at the other end had read all of them.
    func deliver(_ changes: [ViewChange]) async throws -> Bool {
        if cellsTime.duration(to: .now) > Self.longestNames { (cells, cellsTime) = (try RowCells(ledger), .now) }
        for change in changes { output.line(object(change).json) }
        return try await output.deliver()
    }

    private func object(_ change: ViewChange) -> CellValue {
        let key = Hexadecimal.text(change.key)
        var members = [
            CellMember(name: "op", value: .text(change.value == nil ? "delete" : "put")),
            CellMember(name: "change", value: .unsigned(change.number)), CellMember(name: "view", value: .text(view)),
            CellMember(name: "table", value: .text(change.table)), CellMember(name: "key", value: .text(key)),
        ]
        if let row = change.row.map({ cells.object($0) }) {
            members.append(CellMember(name: "row", value: row))
        } else if let value = change.value {
            members.append(CellMember(name: "row_b64", value: .text(Data(value).base64EncodedString())))
        }
        return .object(members)
    }
}
