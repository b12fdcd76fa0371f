/// Why a source could not be read, or what it brought could not be stored.
///
/// `description` is one line: what happened, to which file or broker, and what to do.
public struct IngestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure this is, for exit codes.
    public enum Code: Sendable, Equatable {
        /// The file, broker name or other thing named does not exist.
        case notFound
        /// The system did not let us read it.
        case noPermission
        /// It is not what the caller said, or nothing we know: another format, compressed, a directory.
        case wrongFormat
        /// An address, option or combination of options makes no sense.
        case badRequest
        /// Reading failed in the middle.
        case readFailed
        /// Somebody else is importing the same file.
        case busy
        /// The ledger did not take the events.
        case storeFailed
        /// The broker refused the user, the password or the client.
        case notAuthorized
        /// The broker refused a subscription.
        case notPermitted
        /// The TLS connection was not trusted or could not be made.
        case notTrusted
        /// The broker could not be reached or broke the protocol.
        case unreachable
    }

    public var code: Code
    /// What it happened to: a path, or an address without its password.
    public var subject: String
    /// What happened and what to do, in one sentence or two.
    public var reason: String
    /// The error underneath, if there was one.
    public var cause: String?

    public init(_ code: Code, subject: String, reason: String, cause: String? = nil) {
        self.code = code
        self.subject = subject
        self.reason = reason
        self.cause = cause
    }

    public var description: String {
        guard let cause else { return "\(subject): \(reason)" }
        return "\(subject): \(reason) (\(cause))"
    }
}
