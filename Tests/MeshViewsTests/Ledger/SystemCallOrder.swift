import Foundation
import MeshLedger
import TestKit
import Testing

/// What the kernel is asked to do before an append returns. A killed process leaves the page cache behind, so that only the order of the
/// calls shows that an acknowledged event also outlives a power cut.
struct SystemCallOrder {
    private enum Call: Equatable {
        /// A write of pages through the ordinary descriptor.
        case data
        case sync
        /// A write through the descriptor that was opened with O_DSYNC.
        case meta
        case appendReturned(Int)
    }

    /// The calls on the log's file and the lines that tell of appends, each when it had ended.
    private func calls(_ trace: String, file: String) -> [Call] {
        var metaDescriptor = ""
        var unfinished: [Substring: String] = [:]
        var calls: [Call] = []
        for line in trace.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let process = line[..<space]
            var text = line[space...].trimmingCharacters(in: .whitespaces)
            if text.hasSuffix("<unfinished ...>") {
                unfinished[process] = text
                guard text.hasPrefix("write(1") else { continue }
            } else if text.hasPrefix("<... ") {
                text = unfinished.removeValue(forKey: process) ?? ""
                if text.hasPrefix("write(1") { continue }  // what counts is when it began
            }
            if text.hasPrefix("openat("), text.contains("\"\(file)\""), text.contains("O_DSYNC"),
                let result = text.split(separator: " ").last
            {
                metaDescriptor = String(result.prefix { $0.isNumber })
            } else if text.hasPrefix("write(1<"),
                let sequence = text.split(separator: "\"").dropFirst().first?.split(separator: " ").first
            {
                if let sequence = Int(sequence) { calls.append(.appendReturned(sequence)) }
            } else if text.contains("<\(file)>"), let parenthesis = text.firstIndex(of: "(") {
                let descriptor = text[text.index(after: parenthesis)...].prefix { $0.isNumber }
                switch text[..<parenthesis] {
                case "fdatasync", "fsync": calls.append(.sync)
                case "pwrite64", "pwritev", "writev", "write": calls.append(descriptor == metaDescriptor ? .meta : .data)
                default: break
                }
            }
        }
        return calls
    }

    private static let strace = "/usr/bin/strace"
    /// Where a process may trace another one.
    private static let canTrace: Bool = {
        let run = try? FinishedProcess(URL(fileURLWithPath: strace), ["-o", "/dev/null", "/bin/true"])
        return run?.status == 0
    }()

    @Test(.enabled(if: canTrace, "needs strace"))
    func `pages are written and synced, then the meta page, then the append returns`() async throws {
        let folder = try TemporaryFolder()
        let path = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        let trace = folder.path + "/trace"
        let run = try FinishedProcess(
            URL(fileURLWithPath: Self.strace),
            [
                "-f", "-y", "-s", "64", "-e", "trace=openat,pwrite64,pwritev,writev,write,fdatasync,fsync", "-o", trace,
                BuiltProgram.url("damagelab").path, "kill9-writer", "path=\(path)", "tasks=1", "count=40",
            ])
        #expect(run.status == 0, "\(run.text)")
        let calls = calls(try String(contentsOfFile: trace, encoding: .utf8), file: path + "/log/1/data.mdb")
        var appends = 0
        var since: [Call] = []
        for call in calls {
            guard case .appendReturned(let sequence) = call else {
                since.append(call)
                continue
            }
            appends += 1
            #expect(sequence == appends)
            // The first append comes after the transaction that names its source.
            let commits = since.split(whereSeparator: { $0 == .meta })
            #expect(since.last == .meta, "append \(sequence): \(since)")
            #expect(!commits.isEmpty, "append \(sequence)")
            for commit in commits {
                #expect(commit.last == .sync, "append \(sequence): \(since)")
                #expect(commit.dropLast().allSatisfy { $0 == .data } && commit.count >= 2, "append \(sequence): \(since)")
            }
            since = []
        }
        #expect(appends == 40)
    }
}
