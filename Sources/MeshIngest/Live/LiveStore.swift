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
        var (failure, unstored) = await withTaskGroup(of: Ending.self) { group in
            group.addTask {
                var ending = Ending()
                do throws(IngestError) { try await work() } catch { ending.failure = error }
                buffer.close()
                return ending
            }
            group.addTask {
                let ending = await storeAll()
                if ending.failure != nil { buffer.refuse() }
                return ending
            }
            var first = Ending()
            while let ended = await group.next() {
                first.unstored = first.unstored + ended.unstored
                guard let failure = ended.failure else { continue }
                first.failure = first.failure ?? failure
                group.cancelAll()
            }
            return (first.failure, first.unstored)
        }
        unstored = unstored + buffer.unstored
        if unstored != Unstored() {
            board.dropped(unstored.packets)
            let lost = unstored.packets + unstored.lost
            failure?.reason += lost == 1 ? "; 1 packet is lost" : "; \(lost) packets are lost"
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

    /// Why a part of the work ended, and what it could not store.
    private struct Ending {
        var failure: IngestError?
        var unstored = Unstored()
    }

    private func storeAll() async -> Ending {
        let log = PatientSink(target.log, pauses: Self.pauses_s) { board.report($0) }
        var sources = SourceNames(log: log, base: name)
        while let records = await buffer.takeAll() {
            var rest = records[...]
            do throws(IngestError) {
                while !rest.isEmpty {
                    try await store(rest.prefix(Self.batchLimit), in: log, &sources)
                    rest = rest.dropFirst(Self.batchLimit)
                }
            } catch {
                return Ending(failure: error, unstored: Unstored(rest))
            }
            buffer.settle()
        }
        return Ending()
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
            throw IngestError(ledger: error, subject: name, reason: "the ledger did not accept packets")
        }
        progress?.raise()
        board.stored(events.count { $0.encoding != .gap })
    }
}
