import Foundation

/// The library that stands before the calls which change files, and lets them fail: built from `Tests/CrashShim` with the C compiler. What it
/// can do stands in its source.
public struct FaultShim: Sendable {
    public let path: String

    /// - Parameter folder: where it is built.
    public init(in folder: String) throws {
        path = folder + "/shim.so"
        let source = PackageRoot.url.appendingPathComponent("Tests/CrashShim/shim.c").path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["cc", "-O2", "-shared", "-fPIC", "-o", path, source, "-ldl", "-lpthread"]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad, userInfo: [NSFilePathErrorKey: source]) }
    }

    /// What a process needs that is to run behind it.
    public func environment(root: String, _ more: [String: String]) -> [String: String] {
        ["LD_PRELOAD": path, "SHIM_ROOT": root].merging(more) { $1 }
    }
}
