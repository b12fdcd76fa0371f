import Foundation

extension FileImport {
    /// The channel keys that radios report anywhere in the file, including parts that earlier imports have read. Nothing is stored.
    ///
    /// - Throws: `IngestError` if the file cannot be read; standard input, which cannot be read twice, has no keys
    public func radioKeys() async throws(IngestError) -> RadioKeys {
        let file = try InputFile(path)
        var keys = RadioKeys()
        guard file.size != nil else { return keys }
        let head = try head(of: file)
        guard let format = try format(of: head, isWhole: file.size.map { $0 <= head.count } ?? false) else { return keys }
        let start = FileMark(
            headLength: head.count, headHash: FileMark.hash(head, head.count), offset: 0, tailHash: FileMark.hash([], 0),
            recordCount: 0, sourceName: "")
        let handoff = Handoff<FileBatch>(limit: 2)
        let reading = FileReading(
            file, format, from: start, isComplete: false, batchLimit: options.batchLimit, isInsideLine: false, output: handoff,
            isStopped: { false })
        let thread = Thread {
            var reading = reading
            reading.run(first: [])
        }
        thread.name = "meshledger keys"
        thread.start()
        var failure: IngestError?
        while let batches = await handoff.takeAll() {
            for batch in batches {
                keys.merge(batch.radioKeys)
                failure = failure ?? batch.failure
            }
            handoff.settle()
        }
        if let failure { throw failure }
        return keys
    }
}
