import EventLog
import Foundation
import Synchronization
import TestKit

@testable import MeshIngest

/// An ingest that runs while the test does.
final class RunningIngest: Sendable {
    let bench: ImportBench
    let ingest: MQTTIngest
    let notices = Notices()
    private let task: Task<IngestError?, Never>

    init(_ options: MQTTOptions, bench: ImportBench) {
        var options = options
        options.firstRetrySeconds = 0.05
        options.longestRetrySeconds = 0.2
        self.bench = bench
        let notices = notices
        let ingest = MQTTIngest(options, into: bench.target) { notices.add($0) }
        self.ingest = ingest
        task = Task {
            defer { notices.end() }
            do throws(IngestError) {
                try await ingest.run()
                return nil
            } catch {
                return error
            }
        }
    }

    convenience init(_ address: String, bench: ImportBench, _ change: (inout MQTTOptions) -> Void = { _ in }) throws {
        var options = MQTTOptions(try MQTTAddress(address))
        change(&options)
        self.init(options, bench: bench)
    }

    /// Why connections were lost or failed so far.
    var losses: [String] {
        notices.all.compactMap { if case .lost(let reason, _) = $0 { reason } else { nil } }
    }

    /// Waits until the broker has granted the subscriptions for the `count`th time.
    func waitForSubscription(_ count: Int = 1) async throws {
        try await wait("subscription \(count)") { self.notices.subscriptions >= count }
    }

    /// Waits until the log has `count` events.
    func waitForEvents(_ count: Int) async throws {
        try await wait("\(count) events, not \(bench.log.head.rawValue)") { self.bench.log.head.rawValue >= UInt64(count) }
    }

    func wait(_ what: String, _ condition: () -> Bool) async throws {
        do {
            try await eventually {
                let isOver = notices.isOver
                if condition() { return true }
                if isOver { throw BrokerFailure("it has ended") }
                return false
            }
        } catch {
            throw BrokerFailure("waited in vain for \(what): \(error), \(notices.all)")
        }
    }

    /// Cancels it and waits for its end.
    func stop() async -> IngestError? {
        task.cancel()
        return await task.value
    }

    /// The error that it ends with by itself.
    func end() async -> IngestError? { await task.value }
}

final class Notices: Sendable {
    /// Whether the ingest has ended, so that nothing more comes.
    var isOver: Bool { over.withLock { $0 } }
    func end() { over.withLock { $0 = true } }

    private let list = Mutex<[MQTTNotice]>([])
    private let over = Mutex(false)

    func add(_ notice: MQTTNotice) { list.withLock { $0.append(notice) } }

    var all: [MQTTNotice] { list.withLock { $0 } }

    var subscriptions: Int {
        all.count { if case .subscribed = $0 { true } else { false } }
    }
}
