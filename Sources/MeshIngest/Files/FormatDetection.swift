import Meshtastic
import ProtobufWire

/// Detects a file's format from its first bytes, before anything of it is stored.
enum FormatDetection {
    /// How many bytes of a file are examined.
    static let sampleSize = 65_536
    /// How many records of the sample are examined.
    static let recordLimit = 256

    /// The format of a file that begins with `sample`.
    ///
    /// Damaged records do not mislead it as long as at least a third of the examined ones are sound records of one format.
    ///
    /// - Parameter isWhole: whether these bytes are the whole file
    /// - Returns: nil for an empty sample
    static func format(of sample: Span<UInt8>, isWhole: Bool, path: String) throws(IngestError) -> ImportFormat? {
        if let kind = Compression(head: sample) { throw compressed(kind, path) }
        guard (0..<sample.count).contains(where: { !isSpace(sample[$0]) }) else { return nil }
        let scores = ImportFormat.allCases.map { ($0, score(sample, $0, isWhole: isWhole)) }
        guard let best = scores.max(by: { $0.1.share < $1.1.share }), best.1.share >= 1.0 / 3 else {
            throw IngestError(
                .wrongFormat, subject: path,
                reason: "this is not a format that can be imported; known are \(names), and --format selects one")
        }
        return best.0
    }

    /// Refuses a file without anything in the given format.
    static func check(_ sample: Span<UInt8>, is format: ImportFormat, isWhole: Bool, path: String) throws(IngestError) {
        if let kind = Compression(head: sample) { throw compressed(kind, path) }
        let result = score(sample, format, isWhole: isWhole)
        guard result.seen > 0, result.sound == 0 else { return }
        throw IngestError(
            .wrongFormat, subject: path,
            reason: "nothing at its beginning is \(format.summary); without --format its format is detected")
    }

    private struct Score {
        var seen = 0
        var sound = 0
        var share: Double { seen == 0 ? 0 : Double(sound) / Double(seen) }
    }

    private static func score(_ sample: Span<UInt8>, _ format: ImportFormat, isWhole: Bool) -> Score {
        var score = Score()
        var cutter = format.cutter(isComplete: isWhole)
        var position = 0
        var outside = 0
        while score.seen < recordLimit {
            switch cutter.cut(sample, from: position, isEnd: isWhole) {
            case .incomplete:
                if format == .stream { score.seen += outside / 512 }
                if format == .lengthPrefixed, score.seen == 0 {
                    score = Score(seen: 1, sound: LengthPrefixCutter.beginsPacket(sample) ? 1 : 0)
                }
                return score
            case .nothing(let end, _):
                outside += end - position
                position = end
            case .record(let record, let end), .piece(let record, let end, _):
                position = end
                score.seen += 1
                if record.problem == nil, isPlausible(record, format) { score.sound += 1 }
            }
        }
        if format == .stream { score.seen += outside / 512 }
        return score
    }

    /// Base64, lengths and the beginnings of frames match much that is not traffic, so at least one packet in it must name its sender, and a frame
    /// hold fields. Real captures contain some that do not.
    private static func isPlausible(_ record: IngestRecord, _ format: ImportFormat) -> Bool {
        switch format {
        case .envelopes, .lengthPrefixed: hasSender(record.payload)
        case .stream: hasFields(record.payload)
        default: true
        }
    }

    private static func hasFields(_ frame: [UInt8]) -> Bool {
        var reader = WireReader(frame.rawSpan)
        do throws(WireError) {
            while try reader.next() != nil {}
            return !frame.isEmpty
        } catch {
            return false
        }
    }

    private static func hasSender(_ envelope: [UInt8]) -> Bool {
        var found = false
        _ = PacketFact.scan(envelope.rawSpan, rawForm: CaptureForm.serviceEnvelope.rawValue) { fact in
            if case .sender(let node) = fact, node != 0 { found = true }
        }
        return found
    }

    private static func compressed(_ kind: Compression, _ path: String) -> IngestError {
        IngestError(
            .wrongFormat, subject: path,
            reason: "this is compressed (\(kind)); decompress it first, or pipe its content to `meshledger import -`")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static var names: String { ImportFormat.allCases.map(\.rawValue).joined(separator: ", ") }
}
