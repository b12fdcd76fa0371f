import EventLog
import Logging
import MeshViews
import Projections

extension ViewBaselines {
    /// Rewrites the baselines without the rows of these subjects, runs `erase`, and replaces those in force.
    ///
    /// - Parameter erase: appends the event that names the rewritten ones; they are nil if no row is left out. What it throws must mean that the event was
    ///   not appended, or that the next opening for writing finishes.
    func forgetting<Result>(
        _ subjects: [ErasureSubject], _ erase: ([Retention.Baseline]?) async throws -> Result
    ) async throws -> Result {
        let rewritten = try rewrite(without: subjects)
        let result = try await erase(rewritten)
        if rewritten != nil { try folder.replace(log.first.rawValue - 1) }
        return result
    }

    /// Puts baselines without the rows of the subjects beside those in force. A view whose rows this library does not know loses its baseline when a node is
    /// erased.
    /// - Returns: nil if no row is left out.
    private func rewrite(without subjects: [ErasureSubject]) throws -> [Retention.Baseline]? {
        let cut = log.first.rawValue - 1
        let baselines = try subjects.isEmpty ? [] : intact()
        guard !baselines.isEmpty else { return nil }
        try folder.prepareBuilding()
        var isFound = false
        var kept: [Retention.Baseline] = []
        let events = try droppedEvents(of: subjects, baselines)
        for baseline in baselines {
            let name = baseline.view
            let tables = ViewRegistry.tables[name]
            if tables == nil, subjects.contains(where: { if case .node = $0 { true } else { false } }) {
                logger.warning(
                    "the view \(name) begins after event \(cut): it is unknown which of its earlier rows belong to the node")
                isFound = true
                continue
            }
            var file = folder.file(name, through: cut)
            for (number, subject) in subjects.enumerated() {
                let isLast = number == subjects.count - 1
                let place = (isLast ? folder.building : folder.step(number)) + "/" + name
                let copy = try BaselineCopy(of: file, at: place)
                if try subject.leave(copy, of: name, tables, events: events[subject] ?? []) { isFound = true }
                file = place + "/data.mdb"
            }
            kept.append(baseline)
        }
        for number in subjects.indices.dropLast() { try folder.removeStep(number) }
        guard isFound else {
            try folder.prepareBuilding()
            return nil
        }
        let digests = try folder.finishReplacement(of: cut)
        for index in kept.indices { kept[index].digest = digests[kept[index].view] ?? [] }
        return kept
    }

    /// What an erasure would remove, and the custom views that would lose their baselines.
    func removal(of subject: ErasureSubject) throws -> (rows: ErasedRows, views: [String]) {
        let (cut, baselines) = (log.first.rawValue - 1, try intact())
        let events = try droppedEvents(of: [subject], baselines)[subject] ?? []
        var (rows, views) = (ErasedRows(), [String]())
        for baseline in baselines {
            let tables = ViewRegistry.tables[baseline.view]
            if tables == nil, case .node = subject {
                views.append(baseline.view)
                continue
            }
            let file = try BaselineFile(folder.file(baseline.view, through: cut))
            defer { file.close() }
            rows.add(try subject.removal(from: file, tables ?? [], events: events))
        }
        return (rows, views)
    }

    /// The baselines in force that are as the log names them.
    private func intact() throws -> [Retention.Baseline] {
        let cut = log.first.rawValue - 1
        guard cut > 0, let named = try log.retention()?.retention.baselines else { return [] }
        return try named.filter { try folder.digest($0.view, through: cut) == $0.digest }
    }

    /// The dropped events of each packet, as the index has them.
    private func droppedEvents(
        of subjects: [ErasureSubject], _ baselines: [Retention.Baseline]
    ) throws -> [ErasureSubject: Set<UInt64>] {
        guard baselines.contains(where: { $0.view == ErasureSubject.index }) else { return [:] }
        let file = folder.file(ErasureSubject.index, through: log.first.rawValue - 1)
        return try subjects.reduce(into: [:]) { $0[$1] = try $1.events(inIndex: file) }
    }

    /// Finishes an interrupted erasure, and follows those that came with a recording of the ledger that this is an exact copy of.
    func finishErasures() async throws {
        let cut = log.first.rawValue - 1
        guard cut > 0 else { return }
        if let found = try folder.replacement(of: cut) {
            let named = Self.digests(try log.retention()?.retention.baselines ?? [])
            if found.allSatisfy({ named[$0.key] == $0.value }) {
                try folder.replace(cut)
            } else {
                try folder.removeReplacement(of: cut)
            }
        }
        do {
            for rewriting in try log.unfollowedRewritings() { try await follow(rewriting, cut) }
        } catch let error as EventLogError where error.code == .corrupt {
            logger.warning("erasures that were imported cannot be read: \(error)")  // `usableRecipe` says what that costs
        }
    }

    /// The same rows, left out of the same file in the same order, make the same file: its digest decides. Where it is another, or the request does not say
    /// whose rows go, all rows of dropped events go, since those of the erased subjects are among them.
    private func follow(_ rewriting: BaselineRewriting, _ cut: UInt64) async throws {
        let subjects = rewriting.erasures.compactMap(\.subject)
        let named = Self.digests(rewriting.baselines)
        var made: [String: [UInt8]] = [:]
        if subjects.count == rewriting.erasures.count, let rewritten = try rewrite(without: subjects) {
            for (view, digest) in Self.digests(rewritten) {
                if named[view] == digest { made[view] = digest } else { try folder.leaveOut(view, ofReplacement: cut) }
            }
        }
        // Removed before: afterwards nothing would say that they hold erased rows.
        let hasReplacement = try folder.replacement(of: cut) != nil
        if !hasReplacement { try folder.removeAll(but: 0) }
        try await log.follow(rewriting)
        if hasReplacement { try folder.replace(cut) }
        let lost = named.keys.filter { made[$0] == nil }.sorted()
        guard !lost.isEmpty else { return }
        let reason =
            subjects.count < rewriting.erasures.count
            ? "whose request is hidden" : "which could not be repeated in \(folder.path)"
        logger.warning(
            """
            the views \(lost.joined(separator: ", ")) lose their rows of events up to \(cut), which retention has dropped, because of an erasure \
            \(reason): to have the rows again, copy \(folder.path)/\(cut) from the ledger in which they were erased and run `meshledger view rebuild`, or \
            restore a new backup of that ledger
            """)
    }

    private static func digests(_ baselines: [Retention.Baseline]) -> [String: [UInt8]] {
        Dictionary(baselines.map { ($0.view, $0.digest) }) { $1 }
    }
}
