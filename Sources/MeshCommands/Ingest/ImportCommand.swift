public import ArgumentParser
public import MeshIngest
import MeshLedger

extension ImportFormat: ExpressibleByArgument {}

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Bring recorded traffic into the ledger.",
        discussion: """
            Formats, detected automatically unless --format names one:
            \(ImportFormat.allCases.map { "  " + $0.rawValue.padding(to: 16) + $0.summary }.joined(separator: "\n"))

            It reports how many packets are readable, which channels' keys would open the others, and what is damaged, by file. A file that is imported twice, under another name or grown, adds nothing twice. Standard input
            that is imported again is stored again, since it cannot be recognised, but each reception of a packet with an id counts once. A damaged line is kept as an event that cannot be read; a file of another format is refused whole, and the
            others are imported all the same.

            The recording of another ledger (`meshledger export --format ledger`) makes an exact copy of it in an empty ledger; to any
            other one, it appends the missing events; existing events keep their bytes, even if they were erased in that ledger
            since: erase them here, too.

              meshledger import capture.base64
              meshledger import --format stream radio.bin
              meshledger import --keep-keys radio.bin
              meshledger import captures/ more.jsonl.gz
              ssh roof cat radio.bin | meshledger import -
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(name: .shortAndLong, help: "The files' format.") var format: ImportFormat?
    @Flag(help: "The files are complete: keep a truncated last line as unreadable.") var complete = false
    @Option(help: "The name of the source; else the file's name.") var source: String?
    @OptionGroup var keys: KeepKeysOption
    @Flag(help: "The files are recordings of ledgers; needed only for standard input.") var recording = false
    @Argument(
        help:
            "The files, or folders of files, also behind links; - is standard input. Files may be compressed (gzip, zstd).",
        completion: .file())
    var files: [String]

    func run() async throws {
        let inputs = try InputFiles(files)
        if try await importRecordings(inputs.paths) { return }
        let ledger = try await ledger.openWriter()
        let stored = StoredEvents(in: ledger)
        do {
            try await importAll(inputs, into: ledger, stored)
        } catch {
            // Store and report what was imported before the failure; that failure is the one to throw, whatever else fails now.
            if !stored.ranges.isEmpty {
                try? await ledger.catchUp(title: "folding")  // see above
                try? await summarise(stored, in: ledger)  // see above
            }
            try? await ledger.close()  // see above
            throw error
        }
        try await summarise(stored, in: ledger)
        try await ledger.close()
    }

    private func summarise(_ stored: StoredEvents, in ledger: LedgerWriter) async throws {
        let ranges = stored.ranges
        guard !ranges.isEmpty else { return }
        let summary = try await Self.whenBuilt(ledger) { try ImportSummary(of: $0, ranges, stored.rangesOfFiles) }
        for line in summary.lines { StandardOutput().line(DisplayWidth.safe(line)) }
    }

    private static let mostErasures = 8

    /// An erasure meanwhile takes the views away until they are built again; a view that cannot be built stays away.
    private static func whenBuilt<Result>(
        _ ledger: LedgerWriter, _ body: (Ledger) throws -> Result
    ) async throws -> Result {
        for _ in 0..<mostErasures {
            do {
                return try await ledger.reading(body)
            } catch let error as LedgerError where error.code == .beingBuilt {
                try await ledger.catchUp(title: "folding")
            }
        }
        return try await ledger.reading(body)
    }

    private func importAll(_ inputs: InputFiles, into ledger: LedgerWriter, _ stored: StoredEvents) async throws {
        var left = inputs.paths[...]
        var refused: [(file: String, error: IngestError)] = []
        do {
            while let file = left.popFirst() {
                do {
                    try await importFile(file, into: ledger, stored)
                } catch  where inputs.mayLeaveOut(file, because: error) {
                    StandardOutput.error("meshledger: left out: \(DisplayWidth.safe("\(error)"))")
                } catch let error as IngestError where error.isOfFile {
                    guard inputs.paths.count > 1 else { throw error }
                    StandardOutput.error("meshledger: not imported: \(DisplayWidth.safe("\(error)"))")
                    refused.append((file, error))
                }
            }
        } catch {
            if !left.isEmpty {
                StandardOutput.error(
                    "meshledger: not imported because of this: \(DisplayWidth.safe(left.joined(separator: ", ")))")
            }
            throw error
        }
        if let first = refused.first?.error {
            throw CommandError(
                CommandError(known: first)?.status ?? .badData, "not imported: \(refused.map(\.file).joined(separator: ", "))")
        }
    }

    private func importFile(_ file: String, into ledger: LedgerWriter, _ stored: StoredEvents) async throws {
        let bar = ProgressBar(file)
        defer { bar.end() }
        stored.begin(file)
        let target = IngestTarget(log: stored) {
            bar.end()
            try await ledger.catchUp(title: "folding")
        }
        let options = ImportOptions(format: format, isComplete: complete, sourceName: source)
        let (report, stopped) = try await StopSignals.cancelling {
            try await FileImport(file, into: target, options: options).run { progress in
                let fraction = progress.bytesTotal.map { $0 == 0 ? 1 : Double(progress.bytesDone) / Double($0) }
                bar.show(
                    fraction: fraction, done: UInt64(progress.eventCount), unit: "events", secondsLeft: progress.secondsLeft)
            }
        }
        bar.end()
        write(file, report)
        try await take(report, file, ledger)
        if let stopped {
            throw CommandError(stopped, "\(file): stopped by a signal; what was read is kept, the next import continues there")
        }
    }

    /// The part of the file that earlier imports read is read again for keys, since the ledger does not store them.
    private func take(_ report: ImportReport, _ file: String, _ ledger: LedgerWriter) async throws {
        var found = report.radioKeys
        if keys.keepKeys, report.startOffset > 0 {
            let options = ImportOptions(format: format, isComplete: complete, sourceName: source)
            found = try await FileImport(file, into: IngestTarget(log: ledger), options: options).radioKeys()
        }
        try await keys.take(found, into: ledger, advice: file == "-" ? "--keep-keys" : "importing it again with --keep-keys")
    }

    private func write(_ file: String, _ report: ImportReport) {
        let output = StandardOutput()
        let form = report.format.map { " (\($0.rawValue))" } ?? ""
        let again = report.startOffset > 0 ? ", continued at byte \(report.startOffset)" : ""
        output.line("\(DisplayWidth.safe(file))\(form): \(report.eventCount.counted("event"))\(again)")
        for problem in report.problems {
            output.line("  \(problem.unit) \(problem.number) kept as unreadable: \(DisplayWidth.safe(problem.reason))")
        }
        if report.unreadableCount > report.problems.count {
            output.line("  and \(report.unreadableCount - report.problems.count) more unreadable")
        }
        if report.skippedBytes > 0 {
            output.line(
                "  \(report.skippedBytes.counted("byte between frames belongs", "bytes between frames belong")) to no packet")
        }
        if let leftover = report.leftover {
            output.line(
                "  the last \(leftover.byteCount.counted("byte is", "bytes are")) an incomplete record: import the file again once it has grown, or use --complete to keep \(leftover.byteCount == 1 ? "it" : "them") as unreadable text"
            )
        }
    }
}

extension IngestError {
    /// Whether it says nothing about the ledger and other files.
    fileprivate var isOfFile: Bool {
        switch code {
        case .notFound, .noPermission, .wrongFormat, .damaged, .readFailed, .busy: true
        default: false
        }
    }
}
