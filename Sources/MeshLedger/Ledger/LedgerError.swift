public import EventLog
import LMDB
import Projections
import ViewQuery

/// An error of a ledger, in one sentence: what failed, where, and what to do.
public struct LedgerError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable, CaseIterable {
        /// There is no ledger at the path, or no such event, consumer or backup.
        case missing
        /// Something already exists at the path.
        case exists
        /// It cannot be created at the path.
        case cannotCreate
        /// Another process writes to it.
        case locked
        /// Opened for reading only.
        case readOnly
        case permission
        /// Written by a newer version of this software, or by one from before the first release.
        case otherFormat
        case corrupt
        /// A link, a FIFO or something else is in the place of a file of the ledger.
        case foreign
        case full
        /// A view was never built, and a read-only opener cannot build it.
        case notBuilt
        /// A view is being rebuilt and its old rows must not be shown, as after an erasure: query again when that is done.
        case beingBuilt
        /// `keys.json` is not valid.
        case keys
        case closed
        /// The query cannot be answered in this form, or a setting cannot have this value.
        case query
        /// The events cannot be erased.
        case notErasable
        /// Retention has dropped the requested data.
        case beyondRetention
        /// Requested changes of a view are no longer kept, or the view started over: begin with a snapshot of its rows.
        case changesLost
        /// A custom view's declaration is not valid: its name, versions, numbers or cap.
        case schema
        /// The layout of a view's rows has changed, but not its version: raise that.
        case unversionedChange
        /// The view has a newer version than this program knows. Nothing was changed.
        case newerThanCode
        /// An append from within an enumeration that does not allow it.
        case mutationDuringEnumeration
        /// A snapshot was read from for too long, or after it had ended.
        case snapshotExpired
        /// A person's decision about a node or a message is not valid; nothing was written.
        case annotation
        case storage
    }

    public let code: Code
    public let path: String
    public let description: String
    /// The process that holds the ledger, if it is locked.
    public let holder: Int32?
    public let underlying: (any Error)?

    public init(_ code: Code, path: String, _ description: String, holder: Int32? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.path = path
        self.description = description
        self.holder = holder
        self.underlying = underlying
    }

    static func closed(_ path: String) -> LedgerError {
        LedgerError(.closed, path: path, "\(path): it has been closed; open it again")
    }

    package init(_ error: any Error, path: String) {
        switch error {
        case let error as LedgerError: self = error
        case let error as StorageError where error.code == .closed: self = .closed(path)
        case let error as EventLogError: self.init(error)
        case let error as QueryError:
            let code: Code = error.code == .malformedRow ? .corrupt : .query
            self.init(code, path: path, error.description, underlying: error)
        case let error as StorageError: self.init(Self.code(of: error.code), path: error.path, "\(error)", underlying: error)
        case let error where error is ViewFolderError || StorageError.isOfFile(error):
            let cause = StorageError(foundation: error, path: path)
            let text = (error as? ViewFolderError)?.description ?? "\(cause)"
            self.init(Self.code(of: cause.code), path: cause.path, text, underlying: cause)
        default: self.init(.storage, path: path, "\(error)", underlying: error)
        }
    }

    /// Runs `body`; whatever it throws becomes an error of the ledger at `path`.
    static func wrapping<Result: ~Copyable>(_ path: String, _ body: () throws -> Result) throws(LedgerError) -> Result {
        do {
            return try body()
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    static func wrapping<Result>(_ path: String, _ body: () async throws -> Result) async throws(LedgerError) -> Result {
        do {
            return try await body()
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Whether the error is about an unusable baseline, without which rows would be lost.
    func isOfBaseline(in ledger: String) -> Bool { code == .corrupt && path.hasPrefix(ledger + "/baselines/") }

    /// The system's error for a file that Foundation could not read or write; nil for any other failure.
    package init?(ofFile error: any Error) {
        guard StorageError.isOfFile(error) else { return nil }
        self.init(error, path: "")
    }

    public init(_ error: EventLogError) {
        let code: Code =
            switch error.code {
            case .missing, .notALog, .tooFewEvents: .missing
            case .beyondRetention: .beyondRetention
            case .originName: .query
            case .exists: .exists
            case .cannotCreate: .cannotCreate
            case .missingConsumer, .consumerName, .missingBackup, .notABackup: .missing
            case .locked, .writerRunning, .alreadyOpen, .consumerHeld, .writerGone, .cursorMoved: .locked
            case .readOnly: .readOnly
            case .permission: .permission
            case .newerFormat, .olderFormat: .otherFormat
            case .foreign: .foreign
            case .corrupt, .notARecording, .forked: .corrupt
            case .sizeLimitReached, .diskFull: .full
            case .closed: .closed
            case .notErasable: .notErasable
            case .mutationDuringEnumeration: .mutationDuringEnumeration
            default: .storage
            }
        self.init(code, path: error.path, "\(error)", holder: error.holder, underlying: error)
    }

    private static func code(of code: StorageError.Code) -> Code {
        switch code {
        case .missing, .noSuchTable: .missing
        case .permission: .permission
        case .readOnly: .readOnly
        case .alreadyOpen, .busy: .locked
        case .corrupt, .malformedValue: .corrupt
        case .foreign: .foreign
        case .otherVersion: .otherFormat
        case .sizeLimitReached, .diskFull: .full
        case .closed: .closed
        case .superseded: .beingBuilt
        default: .storage
        }
    }
}

extension Ledger {
    func wrappingErrors<Result: ~Copyable>(_ body: () throws -> Result) throws(LedgerError) -> Result {
        try LedgerError.wrapping(path, body)
    }

    func wrappingErrors<Result>(_ body: () async throws -> Result) async throws(LedgerError) -> Result {
        try await LedgerError.wrapping(path, body)
    }
}
