/// Why one record of a file could not be read: a sentence for the import report.
struct RecordFault: Error, Sendable, Equatable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
