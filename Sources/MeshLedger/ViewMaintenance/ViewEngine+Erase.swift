import EventLog
import Foundation
import LMDB
import MeshViews
import Meshtastic
import Projections

/// Work that requires the views to be taken down first.
extension ViewEngine {
    /// Runs `work`, which erases events, while no views exist; then starts all views over.
    /// - Parameters:
    ///   - forgotten: the subjects whose rows are removed from the baselines of dropped events.
    ///   - work: receives the rewritten baselines, if rows are left out; the event that records the erasure names them.
    func erase(
        _ definitions: [ViewDefinition], keyring: Keyring, forgetting forgotten: [ErasureSubject],
        _ work: @escaping @Sendable ([Retention.Baseline]?) async throws -> ErasureReport
    ) async throws -> ErasureReport {
        await waitForErasure()
        guard !activity.isClosed else { throw closedError }
        // The views are made again, which a damaged baseline would cost their rows of dropped events.
        try requireBaselines(definitions)
        let build = activity.build
        enter(.erasing)
        // Cancelling the caller must not leave an erasure half done.
        let task = Task {
            defer { if case .erasing = activity { enter(.following) } }
            return try await runErasure(definitions, keyring: keyring, forgotten, stopping: build, work)
        }
        return try await task.value
    }

    private func runErasure(
        _ definitions: [ViewDefinition], keyring: Keyring, _ forgotten: [ErasureSubject], stopping build: Build?,
        _ work: @Sendable ([Retention.Baseline]?) async throws -> ErasureReport
    ) async throws -> ErasureReport {
        await TemporaryFolders.removeAllAbandoned()
        if let build { try await stop(build) }
        let (pipeline, members) = (live, liveMembers)
        (live, liveMembers) = (nil, [])
        await pipeline?.stop()
        for member in members { member.store.supersede() }
        served.close(refusing: .superseded)
        let report: ErasureReport
        do {
            try baselines.removeAbandoned()
            report = try await baselines.forgetting(forgotten, work)
            // Otherwise the log was rewritten: its free pages may have the bytes of events that retention has dropped.
            if !forgotten.isEmpty, report.events.isEmpty, log.first.rawValue > 1 { _ = try await log.compact() }
        } catch {
            // If the erasure was begun, the older views cannot be used in any case.
            try await startAgain(definitions, keyring: keyring)
            throw error
        }
        try await startAgain(definitions, keyring: keyring)
        return report
    }

    private func startAgain(_ definitions: [ViewDefinition], keyring: Keyring) async throws {
        hasFailedToStart = true  // until it has started
        try await start(definitions, keyring: keyring)
        hasFailedToStart = false
    }

    // MARK: Retention

    /// Makes the views build baselines of all events up to `last`, and drops these events; does nothing if that is already done. No other build or
    /// cut may start meanwhile.
    func retain(
        through last: UInt64, _ definitions: [ViewDefinition], keyring: Keyring, keeping checkpoints: [UInt64],
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws -> Retention {
        try await settle(nil)
        // Another command may have dropped them meanwhile: its baselines are in force and must not be replaced.
        if let done = try log.retention()?.retention, done.first.rawValue > last { return done }
        try requireBaselines(definitions)  // the next ones begin with these
        let made: [Retention.Baseline]
        do {
            made = try await baselines.make(definitions, keyring: keyring, through: last, progress: progress)
        } catch {
            try? baselines.removeAbandoned()  // the next opening for writing tries again
            throw error
        }
        // If this fails, it may be on disk all the same: the next opening knows, and removes what is not in force.
        let done = try await log.cut(through: EventSequence(last), baselines: made, keeping: checkpoints)
        try? baselines.removeAbandoned()  // the next opening for writing tries again
        return done.retention
    }
}
