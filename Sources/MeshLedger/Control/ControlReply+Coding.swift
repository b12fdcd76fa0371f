import EventLog
import LMDB
import MeshViews
import ProtobufWire

extension ControlReply {
    private enum Kind: UInt32 { case progress = 1, alive, answer, failure }

    var bytes: [UInt8] {
        var writer = WireWriter()
        func put(_ kind: Kind, _ write: (inout WireWriter) -> Void) { writer.message(kind.rawValue, write) }
        switch self {
        case .progress(let progress): put(.progress) { $0.numbers(progress.start, progress.position, progress.target) }
        case .alive: put(.alive) { _ in }
        case .answer(let answer):
            put(.answer) { message in
                for number in answer.numbers { message.varint(1, number) }
                if let bytes = answer.bytes { message.bytes(2, bytes) }
            }
        case .failure(let failure): put(.failure) { $0.failure(failure) }
        }
        return writer.bytes
    }

    init(_ bytes: RawSpan, path: String) throws {
        var reader = WireReader(bytes)
        guard let field = try reader.next(), field.type == .lengthDelimited else {
            throw ControlError(.protocolBroken, path: path, "an empty reply")
        }
        let body = reader.bytes(field)
        switch Kind(rawValue: field.number) {
        case .progress:
            let numbers = try body.controlNumbers(3)
            // A false writer may say anything; what is shown is computed from it.
            guard numbers.allSatisfy({ $0 <= UInt64(Int64.max) }), numbers[0] <= min(numbers[1], numbers[2]) else {
                throw ControlError(.protocolBroken, path: path, "an impossible progress")
            }
            self = .progress(ControlProgress(start: numbers[0], position: numbers[1], target: numbers[2]))
        case .alive: self = .alive
        case .answer:
            var answer = ControlAnswer()
            var fields = WireReader(body)
            while let field = try fields.next() {
                if field.number == 1 { answer.numbers.append(field.scalar) }
                if field.number == 2 { answer.bytes = fields.bytes(field).asArray }
            }
            self = .answer(answer)
        case .failure: self = .failure(try ControlFailure(control: body, path: path))
        case nil: throw ControlError(.protocolBroken, path: path, "a reply of kind \(field.number)")
        }
    }
}

extension ControlFailure {
    /// The codes by their numbers in the protocol: append new ones at the end.
    fileprivate static let controlCodes: [ControlError.Code] = [
        .unreachable, .busy, .closing, .gone, .unknownRequest, .protocolBroken,
    ]
    static let logCodes: [EventLogError.Code] = [
        .storage, .missing, .notALog, .exists, .newerFormat, .olderFormat, .locked, .writerRunning, .alreadyOpen, .permission,
        .readOnly, .networkFileSystem, .corrupt, .sizeLimitReached, .diskFull, .outcomeUnknown, .writesClosed, .closed, .tooLarge,
        .queueFull, .tooFewEvents, .consumerName, .missingConsumer, .consumerHeld, .consumerAhead, .writerGone, .cursorMoved,
        .notARecording, .notABackup, .forked, .notErasable, .beyondRetention, .notCuttable, .readerGone,
        .mutationDuringEnumeration, .replaced, .reserved, .foreign, .cannotCreate, .missingBackup, .originName,
    ]
    static let ledgerCodes: [LedgerError.Code] = [
        .storage, .missing, .exists, .locked, .readOnly, .permission, .otherFormat, .corrupt, .full, .notBuilt, .keys, .closed,
        .query, .notErasable, .changesLost, .beingBuilt, .annotation, .beyondRetention, .cannotCreate, .foreign, .schema,
        .unversionedChange, .newerThanCode, .mutationDuringEnumeration, .snapshotExpired,
    ]

    fileprivate init(control body: RawSpan, path: String) throws {
        var (layer, code, holder): (UInt64, Int, Int32?) = (0, 0, nil)
        var (subject, text): (String, String?) = (path, nil)
        var token: AppendToken?
        var reader = WireReader(body)
        while let field = try reader.next() {
            switch field.number {
            case 1: layer = field.scalar
            case 2: code = Int(clamping: field.scalar)
            case 3: subject = reader.string(field)
            case 4: text = reader.string(field)
            case 5: holder = field.asInt32
            case 6: token = try AppendToken(control: reader.bytes(field))
            default: break
            }
        }
        switch layer {
        case 1:
            let known = Self.logCodes.indices.contains(code) ? Self.logCodes[code] : .storage
            self = .log(EventLogError(known, path: subject, detail: text, token: token, holder: holder))
        case 2:
            let known = Self.ledgerCodes.indices.contains(code) ? Self.ledgerCodes[code] : .storage
            self = .ledger(LedgerError(known, path: subject, text ?? "\(subject): it failed", holder: holder))
        default:
            let known = Self.controlCodes.indices.contains(code) ? Self.controlCodes[code] : .protocolBroken
            self = .control(ControlError(known, path: subject, text))
        }
    }
}

extension WireWriter {
    fileprivate mutating func failure(_ failure: ControlFailure) {
        switch failure {
        case .control(let error):
            varint(2, UInt64(ControlFailure.controlCodes.firstIndex(of: error.code) ?? 0))
            string(3, error.path)
            if let reason = error.reason { string(4, reason) }
        case .log(let error):
            varint(1, 1)
            varint(2, UInt64(ControlFailure.logCodes.firstIndex(of: error.code) ?? 0))
            string(3, error.path)
            if let detail = error.detail ?? error.cause.map({ error.code == .storage ? $0.description : $0.call }) {
                string(4, detail)
            }
            if let holder = error.holder { int32(5, holder) }
            if let token = error.token { self.token(6, token) }
        case .ledger(let error):
            varint(1, 2)
            varint(2, UInt64(ControlFailure.ledgerCodes.firstIndex(of: error.code) ?? 0))
            string(3, error.path)
            string(4, error.description)
            if let holder = error.holder { int32(5, holder) }
        }
    }
}
