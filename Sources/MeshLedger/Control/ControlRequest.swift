import EventLog
import MeshViews
import Projections

/// A request to the process that writes. `CONTROL.md` has the numbers.
///
/// A new kind of request needs a case here, its number and fields in `ControlRequest+Coding.swift`, and its implementation in `ControlService`.
enum ControlRequest: Sendable {
    /// The first request: the versions of the protocol that the client speaks.
    case hello(lowest: UInt32, highest: UInt32)
    case append([NewEvent], cursor: SourceCursor?, token: AppendToken?)
    case source(named: String)
    case cursor(key: String)
    /// Makes the views fold everything and commit it.
    case catchUp
    case changeKeys(KeyringChange)
    /// Rebuilds the named views; an empty list means all.
    case rebuild(views: [String], keepsOld: Bool = false)
    /// Serves the kept rows of the named views again.
    case goBack(views: [String])
    case seal
    case compact
    case status
    /// Erases events for good.
    case erase([ClosedRange<EventSequence>], reason: String, request: String, forgetting: ErasureSubject? = nil)
    /// Drops all events up to one.
    case retain(through: EventSequence, keeping: [UInt64])
    /// Imports the recording of a ledger from a file that this process can read.
    case importRecording(file: String)
    /// Records a person's decisions.
    case annotate([Annotation], AliasCollision)
    /// Undoes an annotation.
    case revert(EventSequence)
    /// Asks what the live sources of the process are doing.
    case sources
    /// A request that this version does not know, by its number.
    case unknown(UInt32)

    /// Whether it takes no longer than a commit, so that a closing process still finishes it.
    var isShort: Bool {
        switch self {
        case .hello, .append, .source, .cursor, .status, .sources, .annotate, .unknown: true
        case .catchUp, .changeKeys, .rebuild, .goBack, .seal, .compact, .erase, .retain, .importRecording, .revert: false
        }
    }
}

/// The result of a request.
enum ControlReply: Sendable {
    /// Progress: where the work began, where it is, and where it ends.
    case progress(ControlProgress)
    /// Work continues.
    case alive
    case answer(ControlAnswer)
    case failure(ControlFailure)
}

struct ControlProgress: Sendable, Equatable {
    var start: UInt64
    var position: UInt64
    var target: UInt64
}

extension ControlProgress {
    init(_ progress: FoldProgress) {
        self.init(start: progress.start, position: progress.position, target: progress.target)
    }

    var ofFold: FoldProgress { FoldProgress(start: start, position: position, target: target) }
}

/// The result of a request; the request determines the meaning of its numbers and bytes.
struct ControlAnswer: Sendable, Equatable {
    var numbers: [UInt64] = []
    var bytes: [UInt8]?
}

extension ControlAnswer {
    init(_ range: ClosedRange<EventSequence>) { numbers = [range.lowerBound.rawValue, range.upperBound.rawValue] }

    /// The events that a request appended; nil if it appended none.
    var range: ClosedRange<EventSequence>? {
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return nil }
        return EventSequence(numbers[0])...EventSequence(numbers[1])
    }
}

/// Why a request was not done.
enum ControlFailure: Error, Sendable {
    case control(ControlError)
    case log(EventLogError)
    case ledger(LedgerError)

    init(_ error: any Error, path: String) {
        switch error {
        case let error as ControlFailure: self = error
        case let error as EventLogError: self = .log(error)
        case let error as ControlError: self = .control(error)
        default: self = .ledger(LedgerError(error, path: path))
        }
    }
}
