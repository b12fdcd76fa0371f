import ArgumentParser
import EventLog
import Glibc
import MeshLedger
import Meshtastic
import Synchronization

/// The object of an export: one of the subjects, or with the format `ledger` the file to write.
enum ExportTarget: ExpressibleByArgument {
    case subject(ExportSubject)
    case file(String)

    init?(argument: String) {
        self = ExportSubject(named: argument.lowercased()).map { .subject($0) } ?? .file(argument)
    }
}

extension ExportTarget {
    var name: String {
        switch self {
        case .subject(let subject): subject.name
        case .file(let name): name
        }
    }

    /// Whether a row may have no place, or a line for each way.
    var isOfPlacesSomeLack: Bool {
        guard case .subject(let subject) = self, let rows = subject.rows as? any MappedRow.Type else { return false }
        return rows.mayLackPlaces
    }
}

extension ExportCommand {
    /// Writes a recording of the ledger, into a file or to standard output.
    func exportLedger() async throws {
        if node != nil { return try await ledger.reading { try record($0.log, $0) } }
        let log = try ledger.openLogForReading()
        do {
            try record(log, nil)
        } catch {
            await log.close()
            throw error
        }
        await log.close()
    }

    private func record(_ log: EventLog, _ ledger: Ledger?) throws {
        var selection = RecordingSelection.all
        if times.since != nil || times.until != nil {
            let runs = try log.runs(arrivedFrom: times.since?.time, before: times.until?.time)
            if runs.isEmpty, times.since != nil { throw CommandError(.noInput, "\(log.path) has no events of these times") }
            if times.since != nil { selection.first = runs.first?.lowerBound }
            if times.until != nil { selection.last = runs.last?.upperBound ?? .zero }
            if runs.count > 1 {
                let (since, until) = (times.since?.time, times.until?.time)
                selection.text = "events of these times, among which the clock jumped"
                selection.isWanted = { header, _ in
                    since.map { header.arrivalTime >= $0 } ?? true && until.map { header.arrivalTime < $0 } ?? true
                }
            }
        }
        if let ledger, let number = try node?.number(in: ledger) {
            let rows = RowsBehindLock(try EventRows(ledger))
            selection.blocks = .packets(fromOrTo: number)
            selection.text = "packets from or to \(NodeID.text(number))"
            let isInTime = selection.isWanted
            selection.isWanted = { header, payload in
                guard isInTime?(header, payload) ?? true else { return false }
                let bytes = unsafe payload.withUnsafeBytes { unsafe [UInt8]($0) }
                guard let packet = rows.row(Event(header: header, payload: bytes)).packet else { return false }
                return packet.hasPacket && (packet.from == number || packet.to == number)
            }
        }
        if selection.first == nil { reportDropped(through: log.first.rawValue - 1, of: log, by: "the recording") }
        let bar = ProgressBar("recording")
        defer { bar.end() }
        guard case .file(let file) = subject, file != "-", file != "/dev/stdout" else {
            do {
                _ = try log.record(toDescriptor: 1, path: "standard output", selection) { bar.show($0) }
            } catch {
                // The reader of the output is gone, which ends the command quietly, as with any other output.
                guard error.code == .readerGone else { throw error }
                bar.end()
                throw ExitCode(ExitStatus.brokenPipe.rawValue)
            }
            return
        }
        let summary = try record(log, to: file, selection) { bar.show($0) }
        bar.end()
        let output = StandardOutput()
        output.line("\(summary.eventCount.counted("event is", "events are")) in \(file) (\(summary.byteCount.counted("byte")))")
        if summary.selectedFrom != nil {
            output.line("they are a new ledger, \(summary.ledger), not a copy: \(selection.text)")
        } else if selection.first != nil || selection.last != nil {
            output.line("they are events \(summary.first) to \(summary.last) of the ledger \(summary.ledger), not all of it")
        }
    }
}

extension ExportCommand {
    /// A plain file gets its name when the recording is complete, and a signal leaves nothing of it.
    private func record(
        _ log: EventLog, to file: String, _ selection: RecordingSelection, _ progress: (RecordingProgress) -> Bool
    ) throws -> RecordingSummary {
        guard OutputFiles.canReplace(file) else { return try log.record(to: file, selection, progress: progress) }
        let (descriptor, isOwned) = try OutputFiles.open(file, mode: 0o600)
        defer { if isOwned { close(descriptor) } }
        let summary = try log.record(toDescriptor: descriptor, path: file, selection, progress: progress)
        try OutputFiles.keepAll()
        return summary
    }
}

/// Decoding reuses buffers, so only one thread at a time may use it.
private final class RowsBehindLock: Sendable {
    private let rows: Mutex<EventRows>

    init(_ rows: sending EventRows) { self.rows = Mutex(rows) }

    func row(_ event: Event) -> EventRow { rows.withLock { $0.row(event) } }
}
