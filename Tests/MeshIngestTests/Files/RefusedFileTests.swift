import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshIngest

struct RefusedFileTests {
    @Test(arguments: [
        "time,node,text\n2026-01-01,!aabbccdd,hello\n2026-01-02,!aabbccdd,world\n",
        "# A title\n\nSome prose about nothing in particular.\n",
        "{\"name\":\"a package\",\"version\":\"1.0\"}\n", "{\"from\":\"me\",\"subject\":\"a letter\"}\n",
        "<html><body>404</body></html>\n",
        "\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}",
    ])
    func `a file of another format is refused before anything is stored`(_ text: String) async throws {
        let bench = try ImportBench()
        let failure = await bench.failure(try bench.write(text, to: "other"))
        #expect(failure?.code == .wrongFormat)
        #expect(failure?.description.contains("\n") == false)
        #expect(bench.log.head == .zero)
    }

    @Test(arguments: ["/bin/ls", "/bin/bash", "/proc/self/exe"]) func `a program is no capture, under whatever format`(
        _ path: String
    ) async throws {
        let bench = try ImportBench()
        #expect(await bench.failure(path)?.code == .wrongFormat)
        for format in [ImportFormat.envelopes, .lengthPrefixed] {
            #expect(await bench.failure(path, ImportOptions(format: format))?.code == .wrongFormat, "\(format)")
        }
        #expect(bench.log.head == .zero)
    }

    @Test(arguments: ImportFormat.allCases) func `naming a format does not make a file fit it`(_ format: ImportFormat)
        async throws
    {
        let bench = try ImportBench()
        let path = try bench.write(String(repeating: "time;node;text of no known kind\n", count: 5_000), to: "other")
        let failure = await bench.failure(path, ImportOptions(format: format))
        #expect(failure?.code == .wrongFormat)
        #expect(bench.log.head == .zero)
    }

    @Test func `whole frames with random content are no capture of a radio`() async throws {
        let bench = try ImportBench()
        var random = SeededGenerator(seed: 5)
        var bytes: [UInt8] = []
        for _ in 0..<300 {
            let count = Int.random(in: 1...200, using: &random)
            bytes += [0x94, 0xc3, 0, UInt8(count)] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        let path = try bench.write(bytes, to: "frames")
        #expect(await bench.failure(path)?.code == .wrongFormat)
        #expect(bench.log.head == .zero)
    }

    @Test func `an empty file is nothing to import, and not wrong`() async throws {
        let bench = try ImportBench()
        let report = try await bench.run(try bench.write("", to: "empty"))
        #expect(report.eventCount == 0)
        #expect(report.format == nil)
    }

    @Test func `a missing file and a folder are distinguished`() async throws {
        let bench = try ImportBench()
        #expect(await bench.failure(bench.path("nowhere"))?.code == .notFound)
        #expect(await bench.failure(bench.folder.path)?.code == .wrongFormat)
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything")) func `a file without permission is reported`() async throws {
        let bench = try ImportBench()
        let path = try bench.write(MadeEnvelope.line(1), to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        #expect(await bench.failure(path)?.code == .noPermission)
    }

    @Test func `a full ledger is reported, and what was stored stays`() async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(
            at: folder.file("ledger").path, options: EventLogOptions(sizeLimit: 1 << 20, isDurable: false))
        let path = folder.file("capture").path
        try Data(MadeEnvelope.lines(0..<40_000).utf8).write(to: URL(fileURLWithPath: path))
        var failure: IngestError?
        do {
            _ = try await FileImport(path, into: IngestTarget(log: log)).run()
        } catch {
            failure = error
        }
        #expect(failure?.code == .storeFailed)
        #expect(log.head.rawValue < 40_000)
    }
}
