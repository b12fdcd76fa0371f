public import Foundation

/// A folder of its own for one test, removed when the value is released.
public final class TemporaryFolder: Sendable {
    public let url: URL
    public var path: String { url.path }

    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("meshledger-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)  // the test's verdict does not depend on it
    }

    public func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
