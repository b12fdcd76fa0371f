import Foundation

/// The content of a pipe, decompressed if its first bytes say that it is compressed.
package struct PipeContent {
    private enum Form {
        case unknown
        case plain
        case compressed(any Decompressor)
    }

    /// How many bytes are decompressed at once, since a little input may expand to a lot.
    private static let portion = 1_024
    /// How many bytes reveal the compression.
    private static let headSize = 8

    private var form = Form.unknown
    /// Read, but not decompressed yet.
    private var raw: [UInt8] = []
    private var rawStart = 0
    /// Decompressed, but not taken yet.
    private var ready: [UInt8] = []
    private var taken = 0
    /// Whether the pipe has ended and everything was taken.
    package var isAtEnd: Bool { hasEnded && rawStart == raw.count && taken == ready.count }
    private var hasEnded = false

    package init() {}

    package mutating func take(_ bytes: [UInt8]) {
        if rawStart == raw.count { (raw, rawStart) = (bytes, 0) } else { raw += bytes }
    }

    /// - Throws: `.damaged` if a compressed stream is cut short.
    package mutating func end(_ path: String) throws(IngestError) {
        hasEnded = true
        if case .unknown = form { recognise() }
        try requireWhole(path)
    }

    private func requireWhole(_ path: String) throws(IngestError) {
        guard case .compressed(let decompressor) = form, rawStart == raw.count, !decompressor.isAtEnd else { return }
        throw IngestError(.damaged, subject: path, reason: "its compressed bytes end too early: the stream is cut short")
    }

    /// Up to this many bytes; none if more must be read first, or at the end.
    /// - Throws: `.damaged` if they cannot be decompressed.
    package mutating func next(_ count: Int, _ path: String) throws(IngestError) -> [UInt8] {
        if case .unknown = form {
            guard raw.count >= Self.headSize || hasEnded else { return [] }
            recognise()
        }
        guard case .compressed(let decompressor) = form else {
            let end = min(raw.count, rawStart + count)
            let bytes = rawStart == 0 && end == raw.count ? raw : Array(raw[rawStart..<end])
            (raw, rawStart) = end == raw.count ? ([], 0) : (raw, end)
            return bytes
        }
        if taken == ready.count { (ready, taken) = ([], 0) }
        while ready.isEmpty, rawStart < raw.count {
            let end = min(raw.count, rawStart + Self.portion)
            var made: [UInt8] = []
            let fault = try decompressor.take(raw.span.extracting(rawStart..<end)) { bytes in
                made += bytes.bytes(0..<bytes.count)
            }
            if let fault { throw IngestError(.damaged, subject: path, reason: fault) }
            (ready, rawStart) = (made, end)
            if rawStart == raw.count { (raw, rawStart) = ([], 0) }
        }
        if hasEnded { try requireWhole(path) }
        let end = min(ready.count, taken + count)
        defer { taken = end }
        return Array(ready[taken..<end])
    }

    private mutating func recognise() {
        form = Compression(head: raw.span)?.decompressor().map { .compressed($0) } ?? .plain
    }
}
