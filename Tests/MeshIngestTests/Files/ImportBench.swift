import EventLog
import Foundation
import Meshtastic
import Synchronization
import TestKit

@testable import MeshIngest

/// A folder with files to import, and a log to import them into.
final class ImportBench: Sendable {
    let folder: TemporaryFolder
    let log: EventLog
    let flushes = FlushCount()

    init(sizeLimit: Int? = nil) throws {
        folder = try TemporaryFolder()
        var options = EventLogOptions(isDurable: false)
        if let sizeLimit { options.sizeLimit = sizeLimit }
        log = try EventLog.create(at: folder.file("ledger").path, options: options)
    }

    /// The folder goes only when the log is closed: its inodes would be taken for open files otherwise.
    deinit {
        Task { [log, folder] in
            await log.close()
            withExtendedLifetime(folder) {}
        }
    }

    var target: IngestTarget { IngestTarget(log: log) { [flushes] in flushes.add() } }

    func path(_ name: String) -> String { folder.file(name).path }

    @discardableResult
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        try Data(bytes).write(to: folder.file(name))
        return path(name)
    }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String { try write(text.utf8, to: name) }

    func grow(_ name: String, by text: String) throws {
        let handle = try FileHandle(forWritingTo: folder.file(name))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    @discardableResult
    func run(_ path: String, _ options: ImportOptions = ImportOptions()) async throws -> ImportReport {
        try await FileImport(path, into: target, options: options).run()
    }

    /// The error that an import ends with.
    func failure(_ path: String, _ options: ImportOptions = ImportOptions()) async -> IngestError? {
        do {
            _ = try await FileImport(path, into: target, options: options).run()
            return nil
        } catch {
            return error
        }
    }

    func events() throws -> [Event] { try log.allEvents() }
}

final class FlushCount: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

extension EventLog {
    func allEvents() throws -> [Event] {
        var events: [Event] = []
        var next: UInt64 = 1
        while next <= head.rawValue, let event = try event(EventSequence(rawValue: next)) {
            events.append(event)
            next += 1
        }
        return events
    }

    func name(of source: SourceID) throws -> String? { try sources().first { $0.id == source }?.name }
}

/// Made traffic: envelopes that are nobody's.
enum MadeEnvelope {
    /// A ServiceEnvelope with a text of node `from`.
    static func bytes(from: UInt32, id: UInt32, text: String = "hello") -> [UInt8] {
        let data = [0x08, 0x01, 0x12, UInt8(text.utf8.count)] + Array(text.utf8)
        var packet: [UInt8] = [0x0d] + little(from) + [0x15, 0xff, 0xff, 0xff, 0xff, 0x22, UInt8(data.count)] + data
        packet += [0x35] + little(id)
        return [0x0a, UInt8(packet.count)] + packet + field(2, "LongFast") + field(3, "!" + hex(from))
    }

    static func line(_ number: Int) -> String {
        Data(bytes(from: 0x1000_0000 + UInt32(number % 50), id: UInt32(number + 1), text: "message \(number)"))
            .base64EncodedString() + "\n"
    }

    static func lines(_ numbers: Range<Int>) -> String { numbers.map(line).joined() }

    static func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

    private static func field(_ number: UInt8, _ text: String) -> [UInt8] {
        [number << 3 | 2, UInt8(text.utf8.count)] + Array(text.utf8)
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
