import Foundation

/// The library that stands before the calls which change files, and lets them fail: built from `Tests/CrashShim` with the C compiler. What it
/// can do stands in its source.
public struct FaultShim: Sendable {
    public let path: String

    /// - Parameter folder: where it is built.
    public init(in folder: String) throws {
        path = folder + "/shim.so"
        let source = PackageRoot.url.appendingPathComponent("Tests/CrashShim/shim.c").path
        try Program.run(
            URL(fileURLWithPath: "/usr/bin/env"), ["cc", "-O2", "-shared", "-fPIC", "-o", path, source, "-ldl", "-lpthread"])
    }

    /// What a process needs that is to run behind it.
    public func environment(root: String, _ more: [String: String]) -> [String: String] {
        ["LD_PRELOAD": path, "SHIM_ROOT": root].merging(more) { $1 }
    }
}
