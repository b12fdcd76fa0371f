import EventLog
import Foundation
import MeshLedger
import Synchronization

/// Listens to an MQTT broker and appends every Meshtastic message, byte for byte.
///
/// ```swift
/// let ingest = MQTTIngest(MQTTOptions(try MQTTAddress("mqtt://localhost/msh/#")), into: target) { print($0) }
/// try await ingest.run()  // until the task is cancelled
/// ```
/// Retained messages and repeated deliveries are ordinary events. Each topic is a separate source, named after broker and topic. With quality
/// of service 1 a message is acknowledged only when it is on disk, so the broker sends again what a crash lost.
///
/// If the ledger has no space, messages wait until it has, which is reported once. Messages that the broker does not keep that long (quality of service 0, or
/// no session) may be lost with the connection.
///
/// A lost connection is restored, after 1 s, then 2 s and so on; see `MQTTFailure` for failures that are not retried. The views are flushed when a connection
/// is lost and at the end.
public final class MQTTIngest: Sendable {
    private static let batchLimit = 4_096
    /// The pause between attempts to store while the ledger has no space.
    private static let longestWait_s = 10.0

    private let options: MQTTOptions
    private let target: IngestTarget
    private let log: PatientSink
    private let report: @Sendable (MQTTNotice) -> Void
    private let counts = Mutex(MQTTStatistics())
    private let connection = Mutex<MQTTConnection?>(nil)
    let board: SourceBoard

    var address: MQTTAddress { options.address }

    /// - Parameter report: receives the notices of the connection, from the connection's thread
    public init(_ options: MQTTOptions, into target: IngestTarget, report: @escaping @Sendable (MQTTNotice) -> Void = { _ in }) {
        let board = SourceBoard(options.address.text) { _, _ in }
        let report: @Sendable (MQTTNotice) -> Void = { notice in
            board.take(notice)
            report(notice)
        }
        self.board = board
        self.options = options
        self.target = target
        log = PatientSink(
            target.log, pauses: options.firstRetrySeconds...max(options.firstRetrySeconds, Self.longestWait_s)
        ) { report(MQTTNotice($0)) }
        self.report = report
    }

    /// The numbers of messages so far.
    public var statistics: MQTTStatistics { counts.withLock { $0 } }
    /// How long the oldest message that is not stored yet has waited.
    var lagSeconds: Double { connection.withLock { $0?.output.lagSeconds } ?? 0 }

    /// Listens until the task is cancelled; then it stores what was received, flushes the views and returns.
    ///
    /// - Throws: `IngestError` when the broker refuses permanently or the ledger does not accept the events
    public func run() async throws(IngestError) {
        try options.check()
        let connection = try MQTTConnection(options, report: report)
        self.connection.withLock { $0 = connection }
        defer { self.connection.withLock { $0 = nil } }
        let thread = Thread { connection.run() }
        thread.name = "meshledger mqtt"
        thread.start()
        let failure = await withTaskCancellationHandler {
            await storeAll(connection)
        } onCancel: {
            connection.stop()
        }
        let target = target
        let subject = options.address.text
        if let failure = failure ?? connection.failure {
            do throws(IngestError) {
                try await Uncancelled.run { () async throws(IngestError) in try await target.flush(subject) }
            } catch {
                // Report why it ended, not the error that followed from it.
            }
            board.fail(failure.description, retrySeconds: nil)
            throw failure
        }
        try await Uncancelled.run { () async throws(IngestError) in try await target.flush(subject) }
    }

    /// Appends messages in batches: everything that arrived while the previous batch was being written.
    private func storeAll(_ connection: MQTTConnection) async -> IngestError? {
        var sources = SourceNames(log: log, base: options.address.text)
        var kinds = MQTTTopicKinds()
        while let items = await connection.output.takeAll() {
            do throws(IngestError) {
                try await store(items, &sources, &kinds)
            } catch {
                connection.output.refuse()
                connection.stop()
                return error
            }
            connection.output.settle()
            connection.wake()
        }
        return nil
    }

    private func store(
        _ items: [MQTTConnection.Item], _ sources: inout SourceNames, _ kinds: inout MQTTTopicKinds
    ) async throws(IngestError) {
        var events: [NewEvent] = []
        var came = MQTTStatistics()
        let oversized = statistics.oversizedCount
        var waiting = 0
        // Also if the ledger accepts no more: messages that it did not accept count as received, not as stored.
        defer { counts.withLock { $0.add(came) } }
        func appendAll() async throws(IngestError) {
            try await append(&events)
            (came.storedCount, waiting) = (came.storedCount + waiting, 0)
        }
        for item in items {
            switch item {
            case .connected: came.connectionCount += 1
            case .lost:
                try await appendAll()
                do throws(IngestError) {
                    try await target.flush(options.address.text)
                } catch {
                    report(.viewsNotFlushed(reason: error.description))
                }
            case .deliveries(let deliveries):
                for delivery in deliveries {
                    came.receivedCount += 1
                    switch kinds.kind(of: delivery.topic) {
                    case .status: came.statusCount += 1
                    case .foreign: came.foreignCount += 1
                    case .event(let form):
                        let source = try await sources.id(.within(delivery.topic))
                        if delivery.byteCount > delivery.payload.count {
                            came.oversizedCount += 1
                            let all = oversized + came.oversizedCount
                            if all.nonzeroBitCount == 1 { report(.oversized(count: all)) }
                            events.append(Self.gap(of: delivery.byteCount).event(of: source))
                        } else {
                            events.append(
                                NewEvent(delivery.payload, encoding: PayloadEncoding(form), source: source, reception: .live))
                            waiting += 1
                        }
                        if events.count >= Self.batchLimit { try await appendAll() }
                    }
                }
            }
        }
        try await appendAll()
        board.received(came.storedCount)
    }

    private static func gap(of byteCount: Int) -> Gap {
        let now = Timestamp.now
        return Gap(
            count: 1, first: now, last: now,
            reason: "a message of \(byteCount) bytes was not stored: envelopes have \(MosquittoClient.longestMessage) at most")
    }

    private func append(_ events: inout [NewEvent]) async throws(IngestError) {
        guard !events.isEmpty else { return }
        let batch = events
        events = []
        do {
            _ = try await log.append(batch)
        } catch {
            throw IngestError(
                ledger: error, subject: options.address.text,
                reason: "the ledger did not accept messages that were received (\(batch.count))")
        }
    }
}

extension MQTTStatistics {
    fileprivate mutating func add(_ other: MQTTStatistics) {
        receivedCount += other.receivedCount
        storedCount += other.storedCount
        statusCount += other.statusCount
        foreignCount += other.foreignCount
        oversizedCount += other.oversizedCount
        connectionCount += other.connectionCount
    }
}
