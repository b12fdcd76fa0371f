import EventLog
import Glibc

/// Why the request could not be made to the process that writes.
struct ControlError: Error, Sendable, Equatable {
    enum Code: Sendable, Equatable {
        /// The socket is missing, or no process listens.
        case unreachable
        /// It has no room for another client.
        case busy
        /// It is about to end; nothing of the request was done.
        case closing
        /// It ended or stopped responding; it is unknown whether the request was done.
        case gone
        /// It does not know the request, because it runs another version of this program.
        case unknownRequest
        /// One side violated the protocol.
        case protocolBroken
    }

    var code: Code
    var path: String
    var reason: String?

    /// The process that is there, but does not respond, such as one that was stopped.
    var silentProcess: Int32?

    init(_ code: Code, path: String, _ reason: String? = nil) {
        self.code = code
        self.path = path
        self.reason = reason
    }

    static func silence(of process: Int32, path: String, _ reason: String) -> ControlError {
        var error = ControlError(.gone, path: path, reason)
        error.silentProcess = process
        return error
    }

    init(_ code: Code, path: String, number: Int32) {
        self.init(code, path: path, SystemError.text(number))
    }
}

extension ControlError: CustomStringConvertible {
    var description: String { reason ?? "\(code)" }
}
