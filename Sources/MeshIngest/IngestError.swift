import EventLog
import MeshLedger

/// Why a source could not be read, or its data could not be stored.
///
/// `description` is one line: what happened, to which file or broker, and what to do.
public struct IngestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for exit codes.
    public enum Code: Sendable, Equatable {
        /// The named file, broker or other thing does not exist.
        case notFound
        /// The system denied access.
        case noPermission
        /// It is not in the named or any known format: another format, compressed, a directory.
        case wrongFormat
        /// Its compressed bytes are damaged or cut short.
        case damaged
        /// An address, option or combination of options makes no sense.
        case badRequest
        /// Reading failed in the middle.
        case readFailed
        /// Another process is importing the same file.
        case busy
        /// The ledger did not accept the events.
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
    /// The object of the failure: a path, or an address without its password.
    public var subject: String
    /// What happened and what to do, in one sentence or two.
    public var reason: String
    /// The underlying error, if any.
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

extension IngestError {
    /// For a failure of the ledger: `.busy` if the process that writes to it has just ended or does not answer, since trying again helps.
    init(ledger error: any Error, subject: String, reason: String) {
        let isBusy: Bool
        switch error {
        case let error as EventLogError: isBusy = error.code == .writerGone || error.code == .locked
        case let error as LedgerError: isBusy = error.code == .locked
        default: isBusy = false
        }
        self.init(isBusy ? .busy : .storeFailed, subject: subject, reason: reason, cause: "\(error)")
    }
}
