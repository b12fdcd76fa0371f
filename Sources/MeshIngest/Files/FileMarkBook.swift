import EventLog
import ProtobufWire

/// Finds the mark of a file that was imported before, whatever its name and length were then.
///
/// A cursor can only be looked up by its key, and a growing file has another hash each time. So a mark is stored under the hash of the largest power of two of
/// bytes that its file had when it was first seen, and is looked up under all powers of two that the file has now. Files with the same beginning
/// share a key and take numbered places.
struct FileMarkBook {
    private static let placeLimit = 1_000

    let log: any EventSink
    let format: ImportFormat

    /// The place of a file's mark.
    struct Place {
        var key: String
        var mark: FileMark?
        /// The mark stored there now.
        var stored: [UInt8]?
    }

    /// The key under which the file's mark is stored, and the mark if it exists.
    func find(_ file: InputFile, head: [UInt8]) async throws(IngestError) -> Place {
        var freeKey: String?
        var length = 1 << (Int.bitWidth - 1 - max(1, head.count).leadingZeroBitCount)
        var best: Place?
        while length >= 1 {
            let stem = key(head, length)
            for place in 0..<Self.placeLimit {
                let key = "\(stem)/\(place)"
                guard let stored = try await cursor(key, file) else {
                    freeKey = freeKey ?? key
                    break
                }
                guard let mark = FileMark(stored), try mark.matches(file, head: head) else { continue }
                if mark.headLength > best?.mark?.headLength ?? -1 { best = Place(key: key, mark: mark, stored: stored) }
            }
            length /= 2
        }
        if let best { return best }
        guard let freeKey else {
            throw IngestError(.storeFailed, subject: file.path, reason: "too many files that begin like this one were imported")
        }
        return Place(key: freeKey)
    }

    private func key(_ head: [UInt8], _ length: Int) -> String {
        let digits = FileMark.hash(head, min(length, head.count)).prefix(16)
        return "file/\(format.rawValue)/\(length)/\(Hexadecimal.text(digits))"
    }

    private func cursor(_ key: String, _ file: InputFile) async throws(IngestError) -> [UInt8]? {
        do {
            return try await log.storedCursor(key)
        } catch {
            throw IngestError(ledger: error, subject: file.path, reason: "the ledger could not be read")
        }
    }
}
