public import Foundation

/// The folder of recorded traffic, wire facts and oracles that lies beside a developer's checkout and is never part of it.
///
/// It is `$MESHLEDGER_SHARED`, else `../shared` from the package's root. A test that needs it says so and is skipped without it.
public enum SharedFolder {
    public static let url: URL = {
        if let path = ProcessInfo.processInfo.environment["MESHLEDGER_SHARED"] { return URL(fileURLWithPath: path) }
        return PackageRoot.url.deletingLastPathComponent().appendingPathComponent("shared")
    }()

    public static var exists: Bool { FileManager.default.fileExists(atPath: url.appendingPathComponent("captures").path) }

    /// These names where the folder is there, for the arguments of a test that has others, too.
    public static func captures(_ names: String...) -> [String] { exists ? names : [] }

    public static func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// The root of this package's checkout.
public enum PackageRoot {
    public static let url = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folders with the module maps of Debian's libraries, which code that imports ours is compiled with.
    public static func moduleMaps() throws -> [String] {
        let sources = url.appendingPathComponent("Sources").path
        return try FileManager.default.contentsOfDirectory(atPath: sources).sorted().map { "\(sources)/\($0)" }.filter {
            FileManager.default.fileExists(atPath: $0 + "/module.modulemap")
        }
    }
}

/// The files of known answers: the project's own, and the one of the shared folder where it is there.
public enum VectorFiles {
    public static var all: [URL] {
        [PackageRoot.url.appendingPathComponent("Tests/Fixtures/vectors.json")]
            + (SharedFolder.exists ? [SharedFolder.file("wire/vectors.json")] : [])
    }
}
