import Glibc

/// Why the process that writes could not be asked.
struct ControlError: Error, Sendable, Equatable {
    enum Code: Sendable, Equatable {
        /// There is no socket, or nobody listens.
        case unreachable
        /// It has no room for another client.
        case busy
        /// It is about to end: nothing of the request was done.
        case closing
        /// It ended, or gave no sign of life: nobody knows whether the request was done.
        case gone
        /// It does not know the request: it runs another version of this program.
        case unknownRequest
        /// One side did not keep to the protocol.
        case protocolBroken
    }

    var code: Code
    var path: String
    var reason: String?

    init(_ code: Code, path: String, _ reason: String? = nil) {
        self.code = code
        self.path = path
        self.reason = reason
    }

    init(_ code: Code, path: String, number: Int32) {
        self.init(code, path: path, unsafe String(cString: strerror(number)))
    }
}
