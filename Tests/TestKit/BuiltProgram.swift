public import Foundation

/// The executable `meshledger`, built beside the tests that run.
public enum BuiltProgram {
    public static func url(_ name: String = "meshledger") throws -> URL {
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
