import EventLog
import MeshIngest
import MeshLedger
import MeshTables

/// A failure as the operator sees it: one line, and an exit status.
struct CommandError: Error {
    var status: ExitStatus
    var message: String
    private var hasLines = false

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Several mistakes at once, each on a line of its own.
    init(_ status: ExitStatus, lines: [String]) {
        self.init(status, lines.joined(separator: "\n"))
        hasLines = true
    }

    /// The message as it is shown: a line break in it is that of a name, unless there are several messages.
    var lines: [String] { hasLines ? message.split(separator: "\n").map(String.init) : [message] }

    /// A requested event is not in the log.
    init(noEvent sequence: UInt64, lastOne last: UInt64, isPast: Bool = false) {
        let there =
            last > 0 ? "the last one is \(last)" : isPast ? "nothing had been heard by then" : "the ledger is empty"
        self.init(.noInput, "there is no event \(sequence); \(there)")
    }

    /// A requested packet is not in the log, or was not yet as of then.
    static func noPacket(_ id: UInt32, in ledger: Ledger) -> CommandError {
        CommandError(.noInput, "no packet with the id \(id) was heard\(ledger.asOfSequence == nil ? "" : " by then")")
    }

    /// The same of a node.
    static func noNode(_ number: UInt32, _ heard: String = "heard", in ledger: Ledger) -> CommandError {
        let what = ledger.asOfSequence == nil ? "was never \(heard)" : "was not \(heard) by then"
        return CommandError(.noInput, "the node \(NodeID.text(number)) \(what)")
    }

    /// An expected failure of this program; nil for any other, such as those of the command line's parser.
    init?(known error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as LedgerError where Self.isOfName(error.underlying): self.init(.usage, error.description)
        case let error as EventLogError where Self.isOfName(error): self.init(.usage, error.description)
        case let error as LedgerError: self.init(Self.status(error.code), error.description)
        case let error as EventLogError: self.init(Self.status(LedgerError(error).code), error.description)
        case let error as IngestError:
            let isBroker = error.code == .notFound && error.subject.hasPrefix("mqtt")
            self.init(isBroker ? .unavailable : Self.status(error.code), "\(error)")
        case let error as TableError: self.init(Self.status(error.code), error.description)
        case is CancellationError: self.init(.interrupted, "stopped")
        default: return nil
        }
    }

    /// Whether a name was given that nothing can have.
    private static func isOfName(_ error: (any Error)?) -> Bool { (error as? EventLogError)?.code == .consumerName }

    private static func status(_ code: LedgerError.Code) -> ExitStatus {
        switch code {
        case .missing: .noInput
        case .exists, .cannotCreate: .cannotCreate
        case .locked, .beingBuilt: .locked
        case .readOnly, .permission: .permission
        case .otherFormat, .corrupt, .foreign, .keys, .unversionedChange, .newerThanCode: .badData
        case .full, .storage: .inputOutput
        case .notBuilt, .changesLost, .beyondRetention: .noInput
        case .notErasable, .query, .mutationDuringEnumeration, .snapshotExpired, .annotation: .usage
        case .closed, .schema: .software
        }
    }
}

extension CommandError {
    private static func status(_ code: TableError.Code) -> ExitStatus {
        switch code {
        case .damaged: .badData
        case .missing: .noInput
        case .exists, .cannotCreate: .cannotCreate
        case .locked: .locked
        case .permission: .permission
        case .request: .usage
        case .storage: .inputOutput
        }
    }

    private static func status(_ code: IngestError.Code) -> ExitStatus {
        switch code {
        case .notFound: .noInput
        case .noPermission: .permission
        case .wrongFormat, .damaged: .badData
        case .badRequest: .usage
        case .busy: .locked
        case .readFailed, .storeFailed: .inputOutput
        case .notAuthorized, .notPermitted, .notTrusted, .unreachable: .unavailable
        }
    }
}
