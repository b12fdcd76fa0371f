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

    static let silence = "it did not respond for \(ControlLimits.clientPatience_s) s"

    /// Whether it is there, but does not respond, such as a process that was stopped.
    var isSilence: Bool { code == .gone && reason == Self.silence }

    init(_ code: Code, path: String, _ reason: String? = nil) {
        self.code = code
        self.path = path
        self.reason = reason
    }

    init(_ code: Code, path: String, number: Int32) {
        self.init(code, path: path, unsafe String(cString: strerror(number)))
    }
}
