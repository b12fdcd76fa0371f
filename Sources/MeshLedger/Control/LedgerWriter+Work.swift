public import EventLog
import MeshViews
public import Meshtastic
public import Projections
import ProtobufWire

extension LedgerWriter {
    /// Waits until all views have folded every event of the log, stale ones are rebuilt, and everything is committed.
    /// - Throws: the error that stopped a view, such as `.full` or `.corrupt`; `.locked` if the writing process stops answering.
    public func catchUp(progress: (@Sendable (FoldProgress) -> Void)? = nil) async throws(LedgerError) {
        try await ask(.catchUp, isRepeatable: true, progress: { progress?($0.ofFold) })
    }

    /// Commits what the views have folded; a process that writes on behalf of this one folds what is missing first.
    package func flush() async throws(LedgerError) {
        try await asking {
            try await either(isRepeatable: true) {
                try await $0.flush()
            } _: { client in
                _ = try await client.call(.catchUp) { _ in }
            }
        }
    }

    /// Rebuilds views from the first event, beside the current ones, which answer meanwhile.
    /// - Parameters:
    ///   - names: nil for all.
    ///   - keepsOld: whether the old rows are kept, so that `goBack` can serve them again.
    /// - Throws: what `Ledger.Maintenance.rebuild` throws, and `.locked` if the writing process stops answering.
    public func rebuild(
        _ names: [String]? = nil, keepsOld: Bool = false, progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws(LedgerError) {
        if let names, names.isEmpty { return }  // a request without names rebuilds all
        try await ask(.rebuild(views: names ?? [], keepsOld: keepsOld), progress: { progress?($0.ofFold) })
    }

    /// Restores the rows that the last `rebuild(keepsOld: true)` replaced, as `Ledger.Maintenance.goBack` does.
    /// - Throws: what `Ledger.Maintenance.goBack` throws, and `.locked` if the writing process stops answering.
    public func goBack(_ names: [String]) async throws(LedgerError) {
        try await ask(.goBack(views: names))
    }

    /// Adds or removes keys and starts rebuilding every view with them. `catchUp()` waits for that.
    /// - Returns: how many keys were added or removed.
    /// - Throws: errors of the file `keys.json`, and `.locked` if the writing process stops answering.
    @discardableResult
    public func changeKeys(_ change: KeyringChange) async throws(LedgerError) -> Int {
        try await ask(.changeKeys(change)) { $0.numbers.first.map { Int(clamping: $0) } }
    }

    /// Seals all events but the newest few.
    /// - Throws: what `EventLog.seal` throws, and `.locked` if the writing process stops answering.
    public func seal(progress: @escaping @Sendable (SealingProgress) -> Void = { _ in }) async throws(LedgerError) {
        try await ask(.seal, progress: { progress(SealingProgress(sealed: $0.position, target: $0.target)) })
    }

    /// Rewrites the log without the free pages of its file.
    /// - Throws: what `EventLog.compact` throws, and `.locked` if the writing process cannot be reached.
    public static func compact(at path: String) async throws(LedgerError) -> LogCompaction {
        do throws(EventLogError) {
            return try await EventLog.compact(at: path, summariser: .meshtastic)
        } catch {
            guard error.code == .locked else { throw LedgerError(error) }
        }
        let writer = try await open(at: path)
        let done: LogCompaction
        do throws(LedgerError) {
            done = try await writer.ask(.compact) { answer -> LogCompaction? in
                let numbers = answer.numbers.map { Int(clamping: $0) }
                guard numbers.count == 3 else { return nil }
                return LogCompaction(sizeBefore: numbers[0], sizeAfter: numbers[1], generation: UInt32(clamping: numbers[2]))
            }
        } catch {
            try? await writer.close()  // the first failure is the one to report
            throw error
        }
        try await writer.close()
        return done
    }

    /// Erases events for good, as `Ledger.Erasures.erase` does. `catchUp()` waits for the views.
    /// - Parameters:
    ///   - reason: why; it is stored in the log.
    ///   - request: a description of the request, stored in the log.
    ///   - forgotten: the subjects whose rows are removed from the baselines of events that retention has dropped.
    /// - Throws: what `Ledger.Erasures.erase` throws, and `.locked` if the writing process stops answering.
    public func erase(
        _ ranges: [ClosedRange<EventSequence>], reason: String, request: String, forgetting forgotten: ErasureSubject? = nil
    ) async throws(LedgerError) -> ErasureReport {
        try await ask(.erase(ranges, reason: reason, request: request, forgetting: forgotten)) { answer in
            answer.numbers.first.map { ErasureReport(events: answer.numbers.dropFirst().map { EventSequence($0) }, erased: $0) }
        }
    }

    /// Drops all events up to and including `last`, as `Ledger.RetentionControl.retain` does.
    ///
    /// - Parameter checkpoints: sizes of checkpoints that must stay comparable afterwards, besides those that this ledger issued.
    /// - Returns: the first event that is kept, and how many were dropped.
    /// - Throws: what `Ledger.RetentionControl.retain` throws, and `.locked` if the writing process stops answering.
    @discardableResult
    public func retain(
        through last: EventSequence, keeping checkpoints: [UInt64] = [], progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws(LedgerError) -> (first: EventSequence, count: UInt64) {
        try await ask(.retain(through: last, keeping: checkpoints), progress: { progress?($0.ofFold) }) {
            $0.numbers.count == 2 ? (EventSequence($0.numbers[0]), $0.numbers[1]) : nil
        }
    }

    /// The channel keys that views are decoded with.
    /// - Throws: `.keys` if `keys.json` is not valid.
    public func keyring() async throws(LedgerError) -> Keyring {
        try await asking {
            try await either {
                $0.keys.keyring
            } _: { client in
                try KeyFile.load(from: client.path)
            }
        }
    }

    /// Reads the ledger; `body` must not keep anything of it.
    /// - Throws: what `body` throws, and what `Ledger.open` throws.
    public func reading<Result>(_ body: (Ledger) async throws -> Result) async throws -> Result {
        try await either(body) { client in
            var readOnly = options
            readOnly.access = .readOnly
            let reader = try await Ledger.open(at: client.path, options: readOnly)
            do {
                let result = try await body(reader)
                try await reader.close()
                return result
            } catch {
                try? await reader.close()  // the first failure is the one to report
                throw error
            }
        }
    }

    /// Carries out a request as the control socket does, here or in the process that writes.
    ///
    /// - Parameter result: makes the result of the answer; nil if the answer is not one to this request.
    func ask<Result>(
        _ request: ControlRequest, isRepeatable: Bool = false, progress: @escaping @Sendable (ControlProgress) -> Void = { _ in },
        _ result: (ControlAnswer) -> Result?
    ) async throws(LedgerError) -> Result {
        func checked(_ answer: ControlAnswer) throws(ControlFailure) -> Result {
            guard let result = result(answer) else { throw brokenAnswer }
            return result
        }
        return try await asking {
            try await either(isRepeatable: isRepeatable) {
                try checked(await $0.perform(request, progress: progress))
            } _: {
                try checked(await $0.call(request, progress: progress))
            }
        }
    }

    func ask(
        _ request: ControlRequest, isRepeatable: Bool = false, progress: @escaping @Sendable (ControlProgress) -> Void = { _ in }
    ) async throws(LedgerError) {
        _ = try await ask(request, isRepeatable: isRepeatable, progress: progress) { $0 }
    }

    /// The answer lacks what was asked for.
    private var brokenAnswer: ControlFailure { .control(ControlError(.protocolBroken, path: path)) }

    func asking<Result>(_ body: () async throws -> Result) async throws(LedgerError) -> Result {
        try await LedgerError.wrapping(path, body)
    }
}

extension LedgerWriter: EventSink {
    public func source(named name: String) async throws(EventLogError) -> SourceID {
        try await logging {
            try await either(isRepeatable: true) {
                try await $0.log.source(named: name)
            } _: { client in
                guard let number = try await client.call(.source(named: name)).numbers.first else { throw brokenAnswer }
                return SourceID(rawValue: UInt32(clamping: number))
            }
        }
    }

    public func reserveSource(named name: String) async throws(EventLogError) -> SourceID {
        try await logging {
            try await either {
                try await $0.log.reserveSource(named: name)
            } _: { _ in
                try await source(named: name)  // another process may have taken the other's place before the events come
            }
        }
    }

    public func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? {
        try await logging {
            try await either(isRepeatable: true) {
                try $0.log.cursor(key)
            } _: { client in
                try await client.call(.cursor(key: key)).bytes
            }
        }
    }

    public func append(
        _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        try await logging {
            try await either {
                try await $0.log.append(events, cursor: cursor, token: token)
            } _: { client in
                try await client.call(.append(events, cursor: cursor, token: token)).range
            }
        }
    }

    private func logging<Result>(_ body: () async throws -> Result) async throws(EventLogError) -> Result {
        do {
            return try await body()
        } catch let error as EventLogError {
            throw error
        } catch let error as LedgerError {
            if let underlying = error.underlying as? EventLogError { throw underlying }
            let code: EventLogError.Code = error.code == .closed ? .closed : error.code == .locked ? .locked : .storage
            throw EventLogError(code, path: path, detail: error.description, holder: error.holder)
        } catch {
            throw EventLogError(.storage, path: path, detail: "\(error)")
        }
    }
}
