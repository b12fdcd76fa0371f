public import Foundation

/// The executables of the package.
public enum BuiltProgram {
    /// The program that users have, if `MESHLEDGER_TESTED_PROGRAM` names it; else the one that was built beside the tests that run.
    public static func url() throws -> URL {
        if let path = ProcessInfo.processInfo.environment["MESHLEDGER_TESTED_PROGRAM"] { return URL(fileURLWithPath: path) }
        return try url("meshledger")
    }

    /// What was built beside the program that `MESHLEDGER_TESTED_PROGRAM` names, or else beside the tests that run.
    public static func tested(_ name: String) throws -> URL {
        let place = try url().deletingLastPathComponent().appendingPathComponent(name)
        return FileManager.default.isExecutableFile(atPath: place.path) ? place : try url(name)
    }

    /// What was built beside the tests that run.
    public static func url(_ name: String) throws -> URL {
        var candidates = [URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])]
        candidates.append(URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath())
        candidates += ProcessInfo.processInfo.arguments.filter { $0.contains(".xctest") }.map { URL(fileURLWithPath: $0) }
        for candidate in candidates {
            let program = candidate.deletingLastPathComponent().appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        }
        throw MissingProgram(name: name, places: candidates.map { $0.deletingLastPathComponent().path })
    }
}

public struct MissingProgram: Error {
    public let name: String
    public let places: [String]
}
