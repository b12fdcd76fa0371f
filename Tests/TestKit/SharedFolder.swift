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

    /// Whether the folder is not there. Then a case of a test, whose other cases need no more than the project, is named as skipped in what `Tools/test` counts.
    public static func isMissing(for what: String) -> Bool {
        if !exists { print("➜ Test \"\(what)\" skipped: needs ../shared") }
        return !exists
    }

    public static func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// The root of this package's checkout.
public enum PackageRoot {
    public static let url = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folders with the module maps of Debian's libraries, which code that imports ours is compiled with.
    public static func moduleMaps() throws -> [String] { try folders(url.appendingPathComponent("Sources"), "module.modulemap") }

    /// The same with those of the packages that our modules import for themselves.
    /// - Parameter built: the folder of the build's programs.
    public static func moduleMaps(of built: URL) throws -> [String] {
        let scratch = sequence(first: built) { $0.path == "/" ? nil : $0.deletingLastPathComponent() }
            .map { $0.appendingPathComponent("checkouts") }.first { FileManager.default.fileExists(atPath: $0.path) }
        let packages = try scratch.map { try FileManager.default.contentsOfDirectory(atPath: $0.path).sorted() } ?? []
        let theirs = try packages.flatMap { name in
            guard let sources = scratch?.appendingPathComponent("\(name)/Sources") else { return [String]() }
            return try folders(sources, "include/module.modulemap").map { $0 + "/include" }
        }
        return try moduleMaps() + theirs
            + folders(built, "module.modulemap").filter { $0.contains("/C") && $0.hasSuffix(".build") }
    }

    /// The folders in a folder that have this file.
    private static func folders(_ folder: URL, _ file: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { "\(folder.path)/\($0)" }.filter {
            FileManager.default.fileExists(atPath: "\($0)/\(file)")
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
