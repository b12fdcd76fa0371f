import Glibc

/// The meaning of the command's exit status; numbers as in BSD's sysexits.h.
enum ExitStatus: Int32, CaseIterable {
    case success = 0
    case verificationFailed = 1
    case declined = 2
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case locked = 75
    case permission = 77
    case interrupted = 130
    case brokenPipe = 141
    case terminated = 143

    var meaning: String {
        switch self {
        case .success: "done"
        case .verificationFailed: "damage was found, or a proof does not hold"
        case .declined: "you answered no; nothing was changed"
        case .usage: "the command line is wrong"
        case .badData: "a file is damaged, has another format, or was written by a newer version"
        case .noInput: "a file, ledger or row does not exist"
        case .unavailable: "a broker refused or cannot be reached"
        case .software: "a fault in this program"
        case .cannotCreate: "something already exists, or cannot be created"
        case .inputOutput: "the disk failed or is full, or a ledger was moved while it was written"
        case .locked: "another process writes to the ledger or the lake; try again"
        case .permission: "not permitted"
        case .interrupted: "stopped by SIGINT; completed work is kept (`ingest` and `follow` end with 0)"
        case .brokenPipe: "the reader of the output went away"
        case .terminated: "stopped by SIGTERM; completed work is kept (`ingest` and `follow` end with 0)"
        }
    }

    /// Ends the process with this status.
    func end() -> Never { Self.end(rawValue) }

    /// Ends the process at once, without exit handlers: OpenSSL's remove data that a background thread, such as one that seals, still uses. Stored data
    /// does not depend on them.
    static func end(_ status: Int32) -> Never {
        OutputFiles.discardAll()
        fflush(nil)
        _exit(status)
    }

    static var table: String {
        allCases.map { "  " + String($0.rawValue).padding(to: 5) + $0.meaning }.joined(separator: "\n")
    }
}

extension String {
    func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
