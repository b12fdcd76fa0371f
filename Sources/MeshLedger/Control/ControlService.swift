import EventLog
import MeshViews
import Meshtastic
import Synchronization

extension Ledger {
    /// Carries out a request of a client, or of a `LedgerWriter` in this process.
    func perform(
        _ request: ControlRequest, progress: @escaping @Sendable (ControlProgress) -> Void
    ) async throws -> ControlAnswer {
        switch request {
        case .append(let events, let cursor, let token):
            return try await log.append(events, cursor: cursor, token: token).map { ControlAnswer($0) } ?? ControlAnswer()
        case .source(let name): return ControlAnswer(numbers: [UInt64(try await log.source(named: name).rawValue)])
        case .cursor(let key): return ControlAnswer(bytes: try log.cursor(key))
        case .catchUp:
            try await catchUp { progress(ControlProgress($0)) }
            return ControlAnswer()
        case .changeKeys(let change): return ControlAnswer(numbers: [UInt64(try await keys.change(change))])
        case .rebuild(let views, let keepsOld):
            try await maintenance.rebuild(views.isEmpty ? nil : views, keepsOld: keepsOld) { progress(ControlProgress($0)) }
            return ControlAnswer()
        case .goBack(let views):
            for view in views { try await maintenance.goBack(view) }
            return ControlAnswer()
        case .seal:
            try await log.seal { progress(ControlProgress(start: 0, position: $0.sealed, target: $0.target)) }
            return ControlAnswer()
        case .compact:
            let done = try await log.compact()
            return ControlAnswer(numbers: [done.sizeBefore, done.sizeAfter, Int(done.generation)].map { UInt64(clamping: $0) })
        case .erase(let ranges, let reason, let request, let forgotten):
            let report = try await erasure.erase(.sequences(ranges), reason: reason, request: request, forgetting: forgotten)
            return ControlAnswer(numbers: [report.erased] + report.events.map(\.rawValue))
        case .retain(let last, let sizes):
            let done = try await retention.retain(through: last, keeping: sizes) { progress(ControlProgress($0)) }
            return ControlAnswer(numbers: [done.first.rawValue, done.count])
        case .importRecording(let file):
            let report = try await importing { log throws(EventLogError) in
                try await log.importRecording(file) { done in
                    progress(ControlProgress(start: 0, position: done.done, target: done.total ?? 0))
                    return true
                }
            }
            return ControlAnswer(report)
        case .annotate(let annotations, let collision):
            return ControlAnswer(try await self.annotations.record(annotations, onCollision: collision))
        case .revert(let sequence): return ControlAnswer(try await annotations.revert(sequence))
        case .status:
            guard let condition = await maintenance.condition() else { throw readOnlyError }
            return ControlAnswer(bytes: condition.bytes)
        case .sources: return ControlAnswer(bytes: sourceReport.withLock { $0 }?())
        case .hello, .unknown:
            throw ControlError(.unknownRequest, path: path, "this process cannot do that")
        }
    }
}
