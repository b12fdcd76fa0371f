import CZstd
import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshIngest

struct CompressedFiles {
    @Test(arguments: ["gzip", "zstd"])
    func `a compressed file is read like what is inside, and known with and without compression`(
        _ kind: String
    ) async throws {
        let bench = try ImportBench()
        let plain = try bench.write(MadeEnvelope.lines(0..<5_000), to: "capture")
        let packed = try bench.write(try compressed(contents(plain), kind), to: "capture.packed")
        let first = try await bench.run(packed)
        #expect(first.eventCount == 5_000 && first.format == .envelopes && first.sourceName == "file:capture.packed")
        #expect(try await bench.run(packed).eventCount == 0)
        #expect(try await bench.run(plain).eventCount == 0)
        try bench.grow("capture", by: MadeEnvelope.line(5_000))
        let grown = try bench.write(try compressed(contents(plain), kind), to: "later.packed")
        #expect(try await bench.run(grown).eventCount == 1)
    }

    @Test(arguments: ["gzip", "zstd"]) func `a file that fills the decompressor's buffer to the last byte is whole`(
        _ kind: String
    )
        async throws
    {
        let bench = try ImportBench()
        let lines = Array(MadeEnvelope.lines(0..<4_000).utf8)
        let size = ZSTD_DStreamOutSize()
        #expect(lines.count > size)
        let end = try #require(lines.prefix(size).lastIndex(of: UInt8(ascii: "\n")))
        let whole = Array(lines[...end]) + [UInt8](repeating: UInt8(ascii: "\n"), count: size - end - 1)
        let plain = try bench.write(whole, to: "plain")
        let count = try await bench.run(plain).eventCount
        #expect(try await bench.run(bench.write(try compressed(whole, kind), to: "packed")).eventCount == 0)
        #expect(count > 500)
    }

    @Test(arguments: ["gzip", "zstd"]) func `parts that were compressed one by one are read one after the other`(_ kind: String)
        async throws
    {
        let bench = try ImportBench()
        let parts = try [0..<700, 700..<701, 701..<1_400].map { try compressed(Array(MadeEnvelope.lines($0).utf8), kind) }
        #expect(try await bench.run(try bench.write(parts.flatMap { $0 }, to: "rotated")).eventCount == 1_400)
    }

    @Test(arguments: ["gzip", "zstd"]) func `a compressed file that is cut short or damaged is refused, and nothing is stored`(
        _ kind: String
    ) async throws {
        let bench = try ImportBench()
        let whole = try compressed(Array(MadeEnvelope.lines(0..<2_000).utf8), kind)
        for length in [9, whole.count / 2, whole.count - 1] {
            let failure = await bench.failure(try bench.write(Array(whole.prefix(length)), to: "cut"))
            #expect(
                failure?.code == .damaged && failure?.reason.contains("compressed") == true, "\(length): \(failure as Any)")
        }
        var damaged = whole
        for place in stride(from: 12, to: whole.count - 12, by: 97) { damaged[place] ^= 0x55 }
        let failure = await bench.failure(try bench.write(damaged, to: "damaged"))
        #expect(failure?.code == .damaged && failure?.reason.contains("damaged") == true, "\(failure as Any)")
        #expect(bench.log.head == .zero)
    }

    @Test(arguments: ["gzip", "zstd"]) func `damaged compressed bytes from a pipe are damaged, not of another format`(
        _ kind: String
    ) throws {
        var bytes = try compressed(Array(MadeEnvelope.lines(0..<2_000).utf8), kind)
        for place in stride(from: 12, to: bytes.count - 12, by: 97) { bytes[place] ^= 0x55 }
        var content = PipeContent()
        content.take(bytes)
        let failure = #expect(throws: IngestError.self) { while try !content.next(1 << 16, "pipe").isEmpty {} }
        #expect(failure?.code == .damaged, "\(failure as Any)")
    }

    @Test func `a file that is compressed in another way is refused with what to do`() async throws {
        let bench = try ImportBench()
        let failure = await bench.failure(try bench.write([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0, 0], to: "capture.xz"))
        #expect(failure?.code == .wrongFormat)
        #expect(failure?.reason.contains("xz") == true && failure?.reason.contains("import -") == true)
    }

    @Test func `a file that takes too much memory to decompress is not called damaged`() async throws {
        let bench = try ImportBench()
        // One empty block of a frame with a window of 2 GB.
        let bytes: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0]
        let failure = await bench.failure(try bench.write(bytes, to: "long.zst"))
        #expect(failure?.reason.contains("128 MB") == true && failure?.reason.contains("damaged") == false, "\(failure as Any)")
    }

    private func contents(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func compressed(_ bytes: [UInt8], _ kind: String) throws -> [UInt8] {
        guard kind == "gzip" else {
            var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
            let count = unsafe ZSTD_compress(&frame, frame.count, bytes, bytes.count, 3)
            return Array(frame.prefix(count))
        }
        let (input, output) = (Pipe.ofOneChild(), Pipe.ofOneChild())
        let process = try Process.start(URL(fileURLWithPath: "/bin/gzip"), ["-c"], input: input, output: output)
        DispatchQueue.global().async {
            input.fileHandleForWriting.write(Data(bytes))
            input.fileHandleForWriting.closeFile()
        }
        let packed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Array(packed)
    }
}
