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

    /// Puts a link at a path that belongs to another user, who could lead it anywhere. Only the superuser can make one.
    public static func link(ofOtherUserAt path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        guard unsafe lchown(path, 65_534, 65_534) == 0 else { throw CocoaError(.fileWriteNoPermission) }
    }
}
