import EventLog
import MeshLedger
import Projections
import ProtobufWire

/// Reads and decodes events on other threads, ahead of printing.
struct EventReading {
    private static let partsAhead = 6

    private let ledger: Ledger
    private let decoders: Workers<EventRows>
    private let kept: KeptEvents

    init(_ ledger: Ledger, with parts: EventRows.Parts = []) throws {
        (self.ledger, kept) = (ledger, KeptEvents(of: ledger))
        let (names, knowledge) = (try EventRows.sourceNames(ledger), try ledger.openingKnowledge())
        decoders = Workers(count: 3) { EventRows(ledger, names, knowledge, with: parts) }
    }

    /// Visits an order's events as rows, until `body` returns false.
    /// - Parameters:
    ///   - offset: how many to skip first without reading them.
    ///   - limit: the most events to visit.
    func visit(_ order: EventOrder, offset: Int = 0, limit: Int = .max, _ body: (EventRow) -> Bool) throws {
        try visit(order, offset: offset, limit: limit) { rows, header, payload in
            rows.row(header, payload)
        } part: {
            $0.allSatisfy(body)
        }
    }

    /// Visits the events within the order's times in log order, oldest first.
    func visitLog<Made: Sendable>(
        _ order: EventOrder, offset: Int, limit: Int, make: @escaping @Sendable (EventRows, EventHeader, RawSpan) -> Made,
        part: ([Made]) throws -> Bool
    ) throws {
        var (skips, left) = (UInt64(offset), limit)
        for run in try ledger.runs(of: order) where left > 0 {
            let count = run.upperBound.rawValue - run.lowerBound.rawValue + 1
            defer { skips -= min(skips, count) }
            guard skips < count else { continue }
            let range = EventSequence(run.lowerBound.rawValue + skips)...run.upperBound
            try visit({ try ledger.forEachPart(of: range, $0) }, limit: left, make: make) { made in
                left -= made.count
                let goesOn = try part(made)
                if !goesOn { left = 0 }
                return goesOn
            }
        }
    }

    /// The same, with any value made from each event.
    /// - Parameters:
    ///   - make: runs on any thread.
    ///   - part: receives the values of several events, in order.
    func visit<Made: Sendable>(
        _ order: EventOrder, offset: Int = 0, limit: Int = .max,
        make: @escaping @Sendable (EventRows, EventHeader, RawSpan) -> Made, part: ([Made]) throws -> Bool
    ) throws {
        let kept = try KeptEvents(of: ledger, in: order)
        var left = limit
        try visit({ try ledger.forEachSequence(order, $0) }, offset: offset, limit: limit, make: make) { made in
            left -= made.count
            let goesOn = try part(made)
            if !goesOn { left = 0 }
            return goesOn
        }
        // With the oldest first, each part is read in time, or notices what it lacks.
        if left > 0, order.newestFirst { try kept.requireAll() }
    }

    private func visit<Made: Sendable>(
        _ find: @escaping (([EventSequence]) throws -> Bool) throws -> Void, offset: Int = 0, limit: Int,
        make: @escaping @Sendable (EventRows, EventHeader, RawSpan) -> Made, part: ([Made]) throws -> Bool
    ) throws {
        var (skips, left) = (offset, limit)
        guard left > 0 else { return }
        var ahead = WorkAhead<[Made], any Error>()
        defer { ahead.drop() }
        let (ledger, decoders, kept) = (ledger, decoders, kept)
        var goesOn = true
        try find { sequences in
            let wanted = Array(sequences.dropFirst(skips).prefix(left))
            skips -= min(skips, sequences.count)
            left -= wanted.count
            ahead.append {
                Result {
                    try decoders.with { rows in
                        var made: [Made] = []
                        made.reserveCapacity(wanted.count)
                        try ledger.forEachEvent(at: wanted, includesErased: true) { made.append(make(rows, $0, $1)) }
                        if made.count < wanted.count { try kept.requireAll(from: wanted.min()) }
                        return made
                    }
                }
            }
            if ahead.count >= Self.partsAhead { goesOn = try part(ahead.removeFirst().get()) }
            return goesOn && left > 0
        }
        while goesOn, ahead.count > 0 { goesOn = try part(ahead.removeFirst().get()) }
    }
}
