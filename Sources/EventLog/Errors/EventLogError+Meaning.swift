internal import LMDB

extension EventLogError: CustomStringConvertible {
    public var description: String {
        if let cause, code == .storage { return cause.description }
        guard let reason = detail ?? cause?.reason else { return "\(path): \(sentence)" }
        return "\(path): \(sentence) (\(reason))"
    }

    /// A reader in another container may have a number that no process has, because its process id is in use twice.
    private static func name(ofReader process: Int32) -> String {
        process > 1 << 22 ? "a process in another container" : "process \(process)"
    }

    /// Whether it is about a file of a backup: a part, a file that is named by its hash, or the list of them. A ledger may be in folders of any name.
    private var isOfBackup: Bool {
        let names = path.split(separator: "/").suffix(2)
        guard names.count == 2, let folder = names.first, let name = names.last else { return false }
        return switch folder {
        case "parts": name.count == 37 && name.allSatisfy { $0.isHexDigit || $0 == "-" }
        case "files": name.count == 64 && name.allSatisfy(\.isHexDigit)
        default: ["manifest", "erasures.json"].contains(name) && detail?.hasPrefix("the backup's list") == true
        }
    }

    private var sentence: String {
        switch code {
        case .missing: "there is no ledger here; check the path or create one"
        case .notALog: "this is not a ledger; check the path"
        case .foreign:
            "something else is in the place of a file of the ledger; nothing was opened or changed; put the ledger's own file back, or remove what does not belong to a ledger"
        case .replaced:
            "the ledger was moved, removed or replaced while it was open for writing; nothing more was confirmed, but the last events may be in the one that was moved; start again with the right one"
        case .notARecording: "this is not a recording of a ledger; check the path"
        case .notABackup: "this is not a backup of a ledger; check the path"
        case .forked:
            "two copies of a ledger differ in the same event: both went on after they were copied, or one was changed; nothing more was copied; keep each in a ledger of its own"
        case .missingBackup: "there is no backup here; check the path, or make one with `meshledger backup`"
        case .cannotCreate: "it cannot be created there; check that the parent folder exists and is writable"
        case .exists: "something already exists here; choose another path or open it"
        case .newerFormat: "a newer version of this program wrote this ledger; nothing was changed; update the program"
        case .olderFormat:
            "a version from before the first release wrote this ledger; nothing was changed; export its events with that version, "
                + "then import them into a new ledger"
        case .locked:
            if let holder {
                "process \(holder) has it open for writing; end that process or open for reading only"
            } else {
                "another process has it open; wait until that process ends, or open for reading only"
            }
        case .writerRunning:
            "a process is writing to it, and reading it meanwhile takes permission to write its file lock.mdb; end that process or get "
                + "that permission"
        case .alreadyOpen: "this process already has it open; use that handle or close it first"
        case .permission: "access was denied; check the owner and mode of the folder and its files"
        case .readOnly: "it is open for reading only, so nothing can be appended; open it for writing where that is possible"
        case .networkFileSystem: "it is on a network file system, where shared maps are unsafe; move it to a local disk"
        case .corrupt where path.contains("/consumers/"):
            "it is damaged and nothing was changed; remove the consumer with `meshledger follow consumers remove` and start it again"
        case .corrupt where path.hasSuffix("/signing.key"):
            "the signing key is damaged and nothing was changed; restore it from a copy, such as a backup with --with-signing-key"
        case .corrupt where path.hasSuffix("/log/current"):
            "it does not say which generation is the log, and nothing was changed; restore it from a copy, write the lines `format 2` and "
                + "`generation N` into it, or save what is left with `meshledger salvage`"
        case .corrupt where isOfBackup && path.hasSuffix("/manifest"):
            "the list of this backup is damaged and nothing was changed; put it back from a copy of the backup, or back up to another folder"
        case .corrupt where isOfBackup:
            "this file of a backup is damaged or missing and nothing was changed; move it away and run `meshledger backup` again, which writes what "
                + "the ledger still has, or put it back from a copy of the backup"
        case .corrupt:
            "it is damaged and nothing was changed; restore it from a copy, or save what is left with `meshledger salvage`"
        case .sizeLimitReached:
            if let holder {
                "its size limit is reached and nothing was stored, because \(Self.name(ofReader: holder)) is still reading, which keeps freed "
                    + "space from being reused; end that process or raise the limit, then append again"
            } else {
                "its size limit is reached and nothing was stored; raise the limit or drop old events, then append again"
            }
        case .diskFull: "the disk or quota is full and nothing was stored; free some space, then append again"
        case .outcomeUnknown:
            "writing failed and it is unknown whether the events are stored; reopen it and append them with the token"
        case .writesClosed: "an earlier write failed, so nothing more was stored; reopen it and append again"
        case .closed: "it has been closed and nothing was stored; open it again"
        case .tooLarge: "the payload or batch is larger than the log takes; split it"
        case .queueFull: "the queue of events is full; wait, or record the loss as a gap"
        case .writerGone:
            "\(holder.map { "process \($0)" } ?? "the process"), which writes to it, ended before it answered; run the command again; an "
                + "import continues where it stopped"
        case .cursorMoved: "another import of the same source got ahead of this one, so nothing was stored; start again"
        case .tooFewEvents: "it has fewer events than requested"
        case .reserved: "only the log itself may write such an event; nothing was stored"
        case .notErasable: "this cannot be erased, and nothing was"
        case .beyondRetention where isOfBackup:
            "the ledger has dropped events that only this backup may have, so nothing was changed; put the file back, or choose another folder"
        case .beyondRetention: "retention has dropped this event; only its hash is left"
        case .notCuttable: "the log cannot be cut there"
        case .originName: "this cannot be a log's name in notes; use one without spaces and plus signs, such as example.org/mesh"
        case .consumerName: "this is not a valid name for a consumer; use 1 to 64 letters, digits, - and _"
        case .missingConsumer: "there is no consumer with this name; list them with `meshledger follow consumers`"
        case .consumerHeld:
            "\(holder.map { "process \($0)" } ?? "another process") is already running this consumer; stop it or choose another name"
        case .consumerAhead:
            "the consumer's position does not fit this log; remove the consumer with `meshledger follow consumers remove` or correct the sequence"
        case .storage: "the store failed"
        case .readerGone: "the reader of the output has ended"
        case .mutationDuringEnumeration:
            "nothing can be appended while rows are enumerated, and nothing was stored; append afterwards, or enumerate with `allowsMutations`"
        }
    }
}
