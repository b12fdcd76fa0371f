internal import EventLog
import Foundation
import Glibc
public import LogTransfer
import MeshViews

extension Ledger {
    /// Imports the events of a recording that the ledger lacks.
    ///
    /// - Parameter isStopped: asked between steps; what was added stays.
    /// - Returns: how many events were added.
    package func importRecording(_ path: String, until isStopped: @escaping @Sendable () -> Bool) async throws -> UInt64 {
        try await importing { log throws(EventLogError) in
            try await log.importRecording(path) { _ -> Bool in !isStopped() }
        }.added
    }
}

extension LedgerWriter {
    /// Imports the events of a recording that the ledger lacks, as `EventLog.importRecording` does. `catchUp()` waits for the views.
    ///
    /// - Parameters:
    ///   - path: a file that the writing process can also read.
    ///   - progress: receives how many events were read, and their total if it is known.
    /// - Throws: what `EventLog.importRecording` throws, and `.locked` if the writing process stops answering.
    public func importRecording(
        _ path: String, progress: @escaping @Sendable (RecordingProgress) -> Void = { _ in }
    ) async throws(LedgerError) -> RecordingImportReport {
        let file = URL(fileURLWithPath: path).path
        return try await asking {
            try await either {
                try await $0.importing { log throws(EventLogError) in
                    try await log.importRecording(path) { (state) -> Bool in
                        progress(state)
                        return true
                    }
                }
            } _: { client in
                let answer = try await client.call(.importRecording(file: file)) {
                    progress(RecordingProgress(done: $0.position, total: $0.target == 0 ? nil : $0.target))
                }
                guard let report = RecordingImportReport(answer) else {
                    throw ControlFailure.control(ControlError(.protocolBroken, path: client.path))
                }
                return report
            }
        }
    }

    /// The same from an open file or pipe. If another process is writing, the input is first copied into a file in the ledger's folder.
    /// - Throws: as the form with a path; `.locked` also if another process has opened the ledger meanwhile; errors of that file.
    public func importRecording(
        descriptor: Int32, named name: String, progress: @escaping @Sendable (RecordingProgress) -> Void = { _ in }
    ) async throws(LedgerError) -> RecordingImportReport {
        guard holder != nil else {
            return try await asking {
                try await either {
                    try await $0.importing { log throws(EventLogError) in
                        try await log.importRecording(descriptor: descriptor, path: name) { (state) -> Bool in
                            progress(state)
                            return true
                        }
                    }
                } _: { _ in
                    throw LedgerError(.locked, path: path, "another process has opened \(path) meanwhile; run the command again")
                }
            }
        }
        let spooled = try await asking { try SpooledRecording(descriptor, in: path) }
        defer { spooled.remove() }
        return try await importRecording(spooled.path, progress: progress)
    }
}

extension ControlAnswer {
    init(_ report: RecordingImportReport) {
        let recording = report.recording
        numbers = [
            recording.eventCount, report.added, report.present, report.isExact ? 1 : 0, UInt64(clamping: recording.byteCount),
        ]
        bytes = Array([recording.ledger, recording.selectedFrom ?? "", recording.selection].joined(separator: "\n").utf8)
    }
}

extension RecordingImportReport {
    fileprivate init?(_ answer: ControlAnswer) {
        let text = String(decoding: answer.bytes ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard answer.numbers.count == 5, lines.count == 3 else { return nil }
        var recording = RecordingSummary(
            ledger: lines[0], selectedFrom: lines[1].isEmpty ? nil : lines[1], selection: lines[2])
        recording.eventCount = answer.numbers[0]
        recording.byteCount = Int(clamping: answer.numbers[4])
        self.init(
            recording: recording, added: answer.numbers[1], present: answer.numbers[2], isExact: answer.numbers[3] == 1)
    }
}
