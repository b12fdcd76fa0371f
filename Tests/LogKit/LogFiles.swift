package import EventLog
package import Foundation
package import LMDB

/// The files of a log, for tests that look at or damage them.
package struct LogFiles {
    package let path: String

    package init(path: String) { self.path = path }

    package var data: String { path + "/log/1/data.mdb" }
    package var current: String { path + "/log/current" }

    /// All files below the ledger with their bytes, but for the table of readers and the lock.
    package func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where !name.hasSuffix("lock.mdb") && name != "LOCK"
        {
            contents[name] = FileManager.default.contents(atPath: path + "/" + name)
        }
        return contents
    }

    /// Flips one bit of the last place in the file where `bytes` lie.
    package func damage(_ bytes: [UInt8]) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: self.data))
        guard let range = data.range(of: Data(bytes), options: .backwards) else { throw CocoaError(.fileReadCorruptFile) }
        data[range.lowerBound] ^= 1
        try data.write(to: URL(fileURLWithPath: self.data))
    }

    /// Changes rows of a log that nobody has open, as only someone with the files in hand can.
    package func change(generation: Int = 1, _ body: (inout WriteTransaction, LogStore) throws(StorageError) -> Void) throws {
        let environment = try Environment.open(path + "/log/\(generation)", EnvironmentOptions(maximumTables: 16))
        defer { environment.close() }
        let store = try LogStore(environment: environment)
        try environment.write { write throws(StorageError) in try body(&write, store) }
    }
}

/// Appends `count` events whose payload is a text with their sequence.
package func appendNumbered(_ log: EventLog, _ count: Int) async throws {
    let first = Int(log.head.rawValue) + 1
    let events = (first..<first + count).map { NewEvent(numberedPayload($0), encoding: .note, source: .log) }
    try await log.append(events)
}

package func numberedPayload(_ number: Int) -> [UInt8] { Array("event number \(number) of the test".utf8) }
