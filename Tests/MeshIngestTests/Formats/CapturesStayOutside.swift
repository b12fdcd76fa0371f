import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshIngest

/// The captures are the traffic of real people. Nothing of it may be in the project: no node, no name, no position.
@Suite(.enabled(if: SharedFolder.exists, "needs ../shared"))
struct CapturesStayOutside {
    /// What everyone uses where a node is made up, and the device that a simulator of the firmware plays.
    private static let madeUp: Set<UInt32> = [0xdead_beef, 0x00aa_0001]

    /// What tells of someone: numbers and words as they may stand in a text, and names, which may have spaces.
    private struct Traces {
        var words: Set<String> = []
        var names: [Data] = []
    }

    private func traces() async throws -> Traces {
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        for capture in try FileManager.default.contentsOfDirectory(atPath: SharedFolder.file("captures").path) {
            guard ["base64", "jsonl", "bin"].contains((capture as NSString).pathExtension) else { continue }
            _ = try await FileImport(SharedFolder.file("captures/" + capture).path, into: IngestTarget(ledger)).run()
        }
        try await ledger.catchUp()
        var traces = Traces()
        for node in try ledger.nodes() where node.number > 0xffff && !Self.madeUp.contains(node.number) {
            traces.words.formUnion([String(node.number), String(node.number, radix: 16)])
            if node.longName.utf8.count >= 8, !node.longName.hasPrefix("Meshtastic ") {
                traces.names.append(Data(node.longName.utf8))
            }
        }
        for position in try ledger.positions(of: nil) {
            for degreesE7 in [position.latitudeE7, position.longitudeE7].map(Int.init) {
                // Rounder ones are no one's place, nor are those of a grid of 13 bits, which is six kilometres wide.
                guard abs(degreesE7) > 1_000_000, degreesE7 % 1_000 != 0, degreesE7 & 0x7ffff != 0x40000 else { continue }
                traces.words.insert(String(abs(degreesE7)))
            }
        }
        try await ledger.close()
        return traces
    }

    private func files() throws -> [URL] {
        try ["Sources", "Tests", "Tools"].flatMap { folder in
            let root = PackageRoot.url.appendingPathComponent(folder)
            return try FileManager.default.subpathsOfDirectory(atPath: root.path)
                .filter { !$0.contains(".build") }.map { root.appendingPathComponent($0) }
        }
            + ["README.md", "CHANGELOG.md", "Package.swift", ".github/CONTRIBUTING.md"].map {
                PackageRoot.url.appendingPathComponent($0)
            }
    }

    /// The words and numbers of a text: `0x19_02` is one, as `1902`; so is `47.6186763`, as `476186763`.
    private func words(of text: Data) -> Set<String> {
        var words: Set<String> = []
        var word: [UInt8] = []
        for byte in text + [0] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): word.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): word.append(byte | 0x20)
            case UInt8(ascii: "_"), UInt8(ascii: "."): break
            default:
                if word.starts(with: Array("0x".utf8)) { word.removeFirst(2) }
                if word.count >= 7 { words.insert(String(decoding: word, as: UTF8.self)) }
                word.removeAll(keepingCapacity: true)
            }
        }
        return words
    }

    @Test(.timeLimit(.minutes(20))) func `nothing of the captures is in the project`() async throws {
        let traces = try await traces()
        #expect(traces.words.count > 1_000 && traces.names.count > 100)
        var count = 0
        for file in try files() {
            guard let text = try? Data(contentsOf: file), text.count < 4 << 20 else { continue }  // a folder, or no text
            count += 1
            let words = words(of: text).intersection(traces.words)
            #expect(words.isEmpty, "\(file.path) has \(words.sorted())")
            let names = traces.names.filter { text.range(of: $0) != nil }.map { String(decoding: $0, as: UTF8.self) }
            #expect(names.isEmpty, "\(file.path) has \(names.sorted())")
        }
        #expect(count > 500)
    }
}
