import EventLog
import Foundation
import MeshIngest
import MeshLedger

/// Packets from a file or standard input, one a line, each shown as soon as its line is complete.
///
/// A single packet may be wrapped, or not be text at all: until a line is a packet by itself, all input is kept, and finally read as a whole.
struct PostedLines {
    private let reader: PacketReader
    private let show: ([PostedPacket]) -> Void
    /// Everything so far; nil once a line was a packet.
    private var held: [UInt8]? = []
    /// The beginning of a line, and how much of it was searched for its end.
    private var line: [UInt8] = []
    private var number = 0
    /// Whether the kept input may still be lines.
    private var isText = true
    private var refused: [(line: Int, error: CommandError)] = []
    private var refusedCount = 0

    /// - Parameter show: prints packets immediately.
    init(_ reader: PacketReader, show: @escaping ([PostedPacket]) -> Void) {
        (self.reader, self.show) = (reader, show)
        // A bare payload may be wrapped, and each of its lines would also be a payload.
        isText = reader.port == nil
    }

    /// Reads to the end, also what is compressed.
    /// - Throws: if some lines were not packets, after showing the others.
    mutating func read(_ file: FileHandle, named name: String) throws {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var content = PipeContent()
        while true {
            let ready = try content.next(chunk.count, name)
            guard ready.isEmpty else {
                if held != nil { held? += ready }
                try take(ready[...])
                continue
            }
            guard !content.isAtEnd else { break }
            let count = unsafe Foundation.read(file.fileDescriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandError(.noInput, "reading failed: \(SystemError.text())") }
            if count > 0 { content.take(Array(chunk[..<count])) } else { try content.end(name) }
        }
        try end()
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) throws(CommandError) {
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0a) {
            line += rest[..<end]
            rest = rest[(end + 1)...]
            takeLine()
        }
        line += rest
        guard line.count <= PacketReader.most, held?.count ?? 0 <= PacketReader.most else {
            throw CommandError(
                .badData,
                "more than \(PacketReader.most) bytes\(held == nil ? " in one line" : ""): `meshledger import` reads captures")
        }
    }

    private mutating func takeLine() {
        number += 1
        defer { line.removeAll(keepingCapacity: true) }
        guard held == nil || isText else { return }
        guard let text = PacketReader.text(line) else {
            isText = false
            return held == nil ? refuse(CommandError(.badData, "it is not text")) : ()
        }
        guard !text.isEmpty else { return }
        do throws(CommandError) {
            let packets = try reader.packets(ofLine: text)
            if held != nil {
                held = nil
                for (line, error) in refused { Self.report(line, error) }
                refused = []
            }
            show(packets)
        } catch {
            refuse(error)
        }
    }

    private mutating func refuse(_ error: CommandError) {
        refusedCount += 1
        if held == nil { Self.report(number, error) } else { refused.append((number, error)) }
    }

    private static func report(_ line: Int, _ error: CommandError) {
        StandardOutput.error("meshledger: line \(line): \(DisplayWidth.safe(error.message))")
    }

    private mutating func end() throws {
        // A single packet needs no line end.
        if !line.isEmpty, number > 0 { takeLine() }
        if let held {
            let packets = try reader.packets(in: held)
            show(packets)
            if let broken = packets.first(where: { $0.failure != nil }) { throw broken.fault }
        } else if refusedCount > 0 {
            throw CommandError(.badData, refusedCount.counted("line is not a packet", "lines are not packets"))
        }
    }
}

extension PostedPacket {
    /// The error for a packet that is not whole.
    var fault: CommandError { CommandError(.badData, "the \(form.name) is not whole: \(failure ?? "")") }
}
