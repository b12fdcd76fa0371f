import Foundation

/// How much a test of many packets or rows takes: all that a requirement asks for where that takes seconds, a part where it would take minutes.
public enum Scale {
    /// In release, and in debug where `MESHLEDGER_FULL` is set.
    public static let isFull: Bool = {
        #if DEBUG
            return ProcessInfo.processInfo.environment["MESHLEDGER_FULL"] != nil
        #else
            return true
        #endif
    }()

    /// - Parameters:
    ///   - full: what a requirement asks for.
    ///   - part: what debug makes of it.
    public static func of(_ full: Int, _ part: Int) -> Int { isFull ? full : part }
}
