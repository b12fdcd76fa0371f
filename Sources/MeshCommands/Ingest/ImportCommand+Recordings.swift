import ArgumentParser
import EventLog
import MeshLedger

extension ImportCommand {
    /// Imports recordings of ledgers. They cannot be mixed with files of traffic.
    /// - Returns: false if the files are not recordings.
    func importRecordings(_ files: [String]) async throws -> Bool {
        let found = files.filter { recording || EventLog.isRecording($0) }
        guard !found.isEmpty else { return false }
        guard found.count == files.count, format == nil, source == nil else {
            throw ValidationError("\(found[0]) is the recording of a ledger: import it alone, without --format and --source")
        }
        let ledger = try await ledger.openWriter()
        do {
            for file in found { try await importRecording(file, into: ledger) }
            try await ledger.catchUp(title: "folding")
        } catch {
            try? await ledger.close()  // the first failure is the one to report
            throw error
        }
        try await ledger.close()
        return true
    }

    private func importRecording(_ file: String, into ledger: LedgerWriter) async throws {
        let bar = ProgressBar(file)
        defer { bar.end() }
        let report =
            file == "-"
            ? try await ledger.importRecording(descriptor: 0, named: "standard input") { _ = bar.show($0) }
            : try await ledger.importRecording(file) { _ = bar.show($0) }
        bar.end()
        let output = StandardOutput()
        let form = report.isExact ? "an exact copy of" : "copied from"
        var line = "\(DisplayWidth.safe(file)): \(report.added.counted("event")), \(form) the ledger \(report.recording.ledger)"
        if report.present > 0 { line += "; \(report.present.counted("was", "were")) there already" }
        output.line(line)
        if let origin = report.recording.selectedFrom {
            output.line("  it is a new ledger, chosen from \(origin): \(DisplayWidth.safe(report.recording.selection))")
        }
    }
}
