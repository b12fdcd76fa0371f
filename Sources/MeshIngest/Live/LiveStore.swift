import EventLog
import MeshLedger
import Meshtastic

/// Stores what a live source puts into its buffer.
struct LiveStore {
    private static let batchLimit = 4_096
    /// The pause between attempts to store while the ledger has no space.
    private static let pauses_s = 1.0...10.0

    let name: String
    let target: IngestTarget
    let buffer: LiveBuffer
    let board: SourceBoard
    /// Rises with each append.
    var progress: RisingNumber?

    /// Runs a source's work while storing what it receives. When the task is cancelled, everything received is stored before it returns.
    ///
    /// - Parameter work: reads the source and puts what arrives into the buffer, until it is cancelled
    func run(_ work: @escaping @Sendable () async throws(IngestError) -> Void) async throws(IngestError) {
        let failure = await withTaskGroup(of: IngestError?.self) { group in
            group.addTask {
                var failure: IngestError?
                do throws(IngestError) { try await work() } catch { failure = error }
                buffer.close()
                return failure
            }
            group.addTask {
                let failure = await storeAll()
                if failure != nil { buffer.refuse() }
                return failure
            }
            var first: IngestError?
            while let ended = await group.next() {
                guard let ended else { continue }
                first = first ?? ended
                group.cancelAll()
            }
            return first
        }
        var flushFailure: IngestError?
        do throws(IngestError) {
            try await Uncancelled.run { [target, name] () async throws(IngestError) in try await target.flush(name) }
        } catch {
            flushFailure = error
        }
        // Report why it ended, not the error that followed from it.
        guard let failure = failure ?? flushFailure else { return board.enter(.stopped, "stopped") }
        board.fail(failure.description, retrySeconds: nil)
        throw failure
    }

    /// Flushes the views when a connection is lost, once everything received over it is stored.
    func flushAfterLoss() async {
        guard await buffer.waitUntilSettled() else { return }
        do throws(IngestError) {
            try await target.flush(name)
        } catch {
            board.report(error.description, isTrouble: true)
        }
    }

    private func storeAll() async -> IngestError? {
        let log = PatientSink(target.log, pauses: Self.pauses_s) { board.report($0) }
        var sources = SourceNames(log: log, base: name)
        while let records = await buffer.takeAll() {
            do throws(IngestError) {
                var rest = records[...]
                while !rest.isEmpty {
                    try await store(rest.prefix(Self.batchLimit), in: log, &sources)
                    rest = rest.dropFirst(Self.batchLimit)
                }
            } catch {
                return error
            }
            buffer.settle()
        }
        return nil
    }

    private func store(_ records: ArraySlice<IngestRecord>, in log: PatientSink, _ sources: inout SourceNames)
        async throws(IngestError)
    {
        var events: [NewEvent] = []
        events.reserveCapacity(records.count)
        for record in records {
            let source = try await sources.id(record.origin)
            events.append(
                NewEvent(
                    record.payload, encoding: record.encoding, source: source, reception: record.reception,
                    isMasked: record.isMasked))
        }
        do {
            _ = try await log.append(events)
        } catch {
            throw IngestError(
                ledger: error, subject: name, reason: "the ledger did not accept packets that were received (\(events.count))")
        }
        progress?.raise()
        board.stored(events.count { $0.encoding != .gap })
    }
}
