internal import Glibc

/// The name of a consumer of something other than events, held by this process, and its position as text: `consumers/NAME.view`.
package final class ConsumerLease: Sendable {
    package let name: String
    private let files: ConsumerFiles
    private let lock: WriterLock

    /// Claims the name for this process.
    /// - Throws: `.consumerName`, also if a consumer of events has the name; `.consumerHeld`.
    package init(_ name: String, in ledger: String) throws(EventLogError) {
        files = ConsumerFiles(ledger: ledger)
        self.name = name
        try files.require(name)
        try files.makeFolder()
        guard try files.position(name) == nil else {
            throw EventLogError(.consumerName, path: files.positionPath(name), detail: "a consumer of events has this name")
        }
        lock = try files.lock(name)
    }

    private static func path(_ files: ConsumerFiles, _ name: String) -> String {
        files.positionPath(name) + ConsumerFiles.viewSuffix
    }

    package var path: String { Self.path(files, name) }

    /// Nil if the consumer does not exist yet.
    package func text() throws(EventLogError) -> String? { try Self.text(files, name) }

    private static func text(_ files: ConsumerFiles, _ name: String) throws(EventLogError) -> String? {
        try CheckedText.read(path(files, name))
    }

    /// Durable when it returns.
    package func store(_ text: String) throws(EventLogError) {
        guard lock.isHeldNow else { throw EventLogError(.closed, path: path) }
        try CheckedText.replace(path, with: text)
        try SmallFile.syncFolder(files.folder)
    }

    package func release() { lock.release() }

    /// All of a ledger, by name, with the process that holds each.
    package static func all(in ledger: String) throws(EventLogError) -> [(name: String, text: String, holder: Int32?)] {
        let files = ConsumerFiles(ledger: ledger)
        var all: [(name: String, text: String, holder: Int32?)] = []
        for name in try files.names(endingIn: ConsumerFiles.viewSuffix) {
            if let text = try text(files, name) { all.append((name, text, files.holder(name))) }
        }
        return all
    }

    /// - Returns: false if no consumer has that name.
    package static func remove(_ name: String, in ledger: String) throws(EventLogError) -> Bool {
        let files = ConsumerFiles(ledger: ledger)
        guard try files.names(endingIn: ConsumerFiles.viewSuffix).contains(name) else { return false }
        let lock = try files.lock(name)
        defer { lock.release() }
        try SmallFile.remove(path(files, name))
        try SmallFile.syncFolder(files.folder)
        return true
    }
}
