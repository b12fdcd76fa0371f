public import EventLog
import Foundation
import Logging
import MeshViews
import Meshtastic

extension Ledger {
    /// Erasing events for good, with everything that the views derived from them.
    ///
    /// ```swift
    /// let selection = ErasureSelection.node(0x1902_5c00)
    /// print("erases \(try ledger.erasure.erasable(selection).count) ranges of events")
    /// try await ledger.erasure.erase(selection, reason: "its owner asked for it")
    /// ```
    public struct Erasures: Sendable {
        let ledger: Ledger
    }

    public var erasure: Erasures { Erasures(ledger: self) }
}

extension Ledger.Erasures {
    /// How many events one read transaction examines.
    private static var batchSize: Int { 16_384 }

    /// The events that `erase` would erase now.
    ///
    /// - Throws: `.missing` for sequences that do not exist, `.notErasable` for some that retention has dropped.
    public func erasable(_ selection: ErasureSelection) throws(LedgerError) -> [ClosedRange<EventSequence>] {
        try ledger.wrappingErrors {
            guard case .sequences(let ranges) = selection else {
                return try Self.search(EventSequence(1)...EventSequence(.max), selection, in: ledger.log)
            }
            var found: [ClosedRange<EventSequence>] = []
            for range in ranges {
                guard range.lowerBound > .zero, range.upperBound <= ledger.log.head else {
                    throw LedgerError(
                        .missing, path: ledger.path,
                        "there is no event \(range.upperBound) in \(ledger.path); the last one is \(ledger.log.head)")
                }
                guard range.upperBound >= ledger.log.first else {
                    throw LedgerError(
                        .notErasable, path: ledger.path,
                        "events up to \(ledger.log.first.rawValue - 1) of \(ledger.path) were dropped by retention: their bytes are gone; rows that views keep of "
                            + "them go with `meshledger erase --node` or `--packet`")
                }
                found += try Self.search(range, selection, in: ledger.log)
            }
            return found
        }
    }

    private static func search(
        _ range: ClosedRange<EventSequence>, _ selection: ErasureSelection, in log: EventLog
    ) throws -> [ClosedRange<EventSequence>] {
        var found: [ClosedRange<EventSequence>] = []
        var matcher = ErasureMatcher(selection)
        var next = range.lowerBound
        while next <= range.upperBound {
            var last: EventSequence?
            try log.withEvents(from: next, count: batchSize, where: selection.filter) { header, payload in
                guard header.sequence <= range.upperBound else { return false }
                last = header.sequence
                guard !header.isErased, header.source != .log, matcher.matches(payload, header.encoding) else { return true }
                found.join(header.sequence...header.sequence)
                return true
            }
            guard let last, last.rawValue < .max else { break }
            next = last.advanced(by: 1)
        }
        return found
    }

    /// Erases events for good: their bytes in the log, and everything that the views derived from them.
    ///
    /// For each event the log keeps what it needs to prove that nothing else was changed: its header and a hash. Appends continue meanwhile; the views are
    /// rebuilt from the remaining events, and until then there are no views to query. `catchUp()` waits for that. The next opening for writing
    /// finishes an interrupted erasure.
    ///
    /// - Parameters:
    ///   - reason: why; it is stored in the log.
    ///   - request: a description of the request, stored in the log; by default the selection.
    ///   - forgotten: the subjects whose rows are removed from the baselines of events that retention has dropped; by default those of the selection.
    /// - Throws: `.notErasable` for events of the log itself, `.full` if there is no space to rewrite the log.
    @discardableResult
    public func erase(
        _ selection: ErasureSelection, reason: String, request: String? = nil, forgetting forgotten: ErasureSubject? = nil
    ) async throws(LedgerError) -> ErasureReport {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        let ranges: [ClosedRange<EventSequence>]
        if case .sequences(let named) = selection {
            // What was found for a subject may have been dropped since: of that, its rows are removed.
            ranges = forgotten == nil ? named : named.filter { $0.upperBound >= ledger.log.first }
            _ = try erasable(.sequences(ranges))
        } else {
            ranges = try erasable(selection)
            let kept = try restatements(selection, in: ranges)
            if !kept.isEmpty { try await ledger.annotations.record(kept) }
        }
        let subject = forgotten ?? selection.forgotten
        return try await erasing(subject.map { [$0] } ?? []) {
            try await $0.erase(ranges, reason: reason, request: request ?? selection.description, baselines: $1)
        }
    }

    /// Erases what was erased in another copy of this ledger, for example after an older backup was restored: the events, those of the same node or packet that
    /// the other copy had dropped before, and rows of dropped events. Of an erasure whose request is hidden, or in other words than `ErasureSelection`
    /// has, only the events that it names.
    /// - Throws: `.notErasable` if they belong to another log, and what `erase` throws.
    @discardableResult
    public func apply(_ erasures: [Erasure]) async throws(LedgerError) -> ErasureReport {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        return try await erasing(erasures.compactMap(\.subject)) { log, baselines in
            try await log.apply(erasures, with: erasures.map { try Self.dropped($0, in: log) }, baselines: baselines)
        }
    }

    /// As `apply`, in a ledger that is not open, such as one that is being restored.
    package static func apply(_ erasures: [Erasure], to log: EventLog) async throws(EventLogError) -> ErasureReport {
        do {
            return try await ViewBaselines(log: log).forgetting(erasures.compactMap(\.subject)) { baselines in
                try await log.apply(erasures, with: erasures.map { try dropped($0, in: log) }, baselines: baselines)
            }
        } catch {
            if let error = error as? EventLogError { throw error }
            let error = LedgerError(error, path: log.path)
            throw EventLogError(.storage, path: error.path, detail: error.description)
        }
    }

    /// The events of the request that are here, of those before the erasure: the other copy may have dropped them before.
    fileprivate static func dropped(_ erasure: Erasure, in log: EventLog) throws -> [ClosedRange<EventSequence>] {
        guard let selection = ErasureSelection(request: erasure.request), log.head > .zero, erasure.sequence > .zero else {
            return []
        }
        return try search(EventSequence(1)...min(log.head, erasure.sequence), selection, in: log)
    }

    fileprivate func erasing(
        _ forgotten: [ErasureSubject],
        _ work: @escaping @Sendable (EventLog, [Retention.Baseline]?) async throws -> ErasureReport
    ) async throws(LedgerError) -> ErasureReport {
        let log = ledger.log
        return try await ledger.wrappingErrors {
            try await ledger.gate.run {
                try await ledger.engine.erase(ledger.definitions, keyring: ledger.keys.keyring, forgetting: forgotten) {
                    try await work(log, $0)
                }
            }
        }
    }
}

extension Ledger {
    /// An erasure does not name what its ledger had dropped before and had rows of. A copy that had not dropped it may still have it: events if the request is
    /// hidden, and rows of what it has dropped itself.
    private func warnOfRest(of erasure: Erasure) throws {
        guard try mayHaveRest(of: erasure), erasure.isHidden || log.first.rawValue > 1 else { return }
        let request = erasure.isHidden ? "a hidden request" : erasure.request
        logger.warning(
            """
            event \(erasure.sequence) records the erasure of \(request): what its ledger had dropped before may be left of it in \(path); \
            `meshledger erase` erases it here, after which later recordings of that ledger are not taken any more
            """)
    }

    private func mayHaveRest(of erasure: Erasure) throws -> Bool {
        let isFollowed = try log.retention().map { $0.event > erasure.sequence } ?? false
        return try !isFollowed && log.rewroteBaselines(erasure)
    }

    /// - Returns: how many events were erased.
    private func eraseRest(of erasures: [Erasure]) async throws -> UInt64 {
        let left = try erasures.filter { try mayHaveRest(of: $0) }.flatMap { try Erasures.dropped($0, in: log) }
        return try await log.eraseImplied(left)
    }

    /// Erases what an import that was killed had not erased yet of what its erasures do not name. Called when the ledger is opened for writing, before the
    /// views take the erasures into account.
    func finishImportedErasures() async {
        do {
            let known = try engine.erased.known()
            guard try log.lastErasure().map({ $0.rawValue > known }) ?? false else { return }
            _ = try await eraseRest(of: log.erasures().filter { $0.sequence.rawValue > known })
        } catch {
            logger.warning("what an interrupted import was to erase may be left in \(path): \(LedgerError(error, path: path))")
        }
    }

    /// Runs an import of a recording; if that adds erasures, earlier views are removed.
    func importing(
        _ work: (EventLog) async throws(EventLogError) -> RecordingImportReport
    ) async throws -> RecordingImportReport {
        let before = try log.lastErasure()
        let report = try await work(log)
        guard try log.lastErasure() != before else { return report }
        let imported = try log.erasures().filter { $0.sequence > before ?? .zero }
        _ = try await erasure.erasing([]) { [self] _, _ in
            ErasureReport(events: [], erased: try await report.isExact ? eraseRest(of: imported) : 0)
        }
        for erasure in imported { try warnOfRest(of: erasure) }
        return report
    }
}
