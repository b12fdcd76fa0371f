/// Records of a file that are appended together, with the mark after them.
struct FileBatch: Sendable {
    var records: [IngestRecord] = []
    /// Nil for pipes.
    var mark: FileMark?
    var endOffset = 0
    var problems: [ImportReport.Problem] = []
    var unreadableCount = 0
    var skippedBytes = 0
    var radioKeys = RadioKeys()
    var leftover: ImportReport.Leftover?
    var failure: IngestError?
}
