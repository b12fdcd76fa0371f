import Foundation

/// Puts ledgers to the proof: flipped bits, images of a crash, calls that fail, random histories against a model or a full fold,
/// tampering, processes that are killed. `Tools/prove bitrot`, `Tools/prove crash-images`, `Tools/prove failing-calls`, `Tools/prove histories`, `Tools/prove kill9`, `Tools/prove model` and `Tools/prove tamper` run it with
/// their full counts, the tests with small ones.
@main
struct Main {
    static func main() {
        var words = Array(CommandLine.arguments.dropFirst())
        var reader: BitRotChild?
        do {
            // What copies this process comes before the first thread.
            if words.first == "serve" { words = try ForkServer.serve() }
            if words.first == "bitrot-child" { reader = try BitRotServer(Options(words)).serve() }
        } catch {
            fail(error)
        }
        let (arguments, child) = (Options(words), reader)
        Task {
            await run(arguments, child)
            exit(0)
        }
        dispatchMain()
    }

    private static func fail(_ error: any Error) -> Never {
        FileHandle.standardError.write(Data("damagelab: \(error)\n".utf8))
        exit(1)
    }

    private static func run(_ arguments: Options, _ child: BitRotChild?) async {
        do {
            switch arguments.verb {
            case "bitrot": try await BitRot(arguments).run()
            case "bitrot-child": try await child?.run()
            case "crash-images": try await CrashImages(arguments).run()
            case "failing-calls": try await FailingCalls(arguments).run()
            case "model": try await ModelRun(arguments).run()
            case "tamper": try await TamperRun(arguments).run()
            case "kill9": try await KillRun(arguments).run()
            case "kill9-writer": try await KillWriter(arguments).run()
            case "kill9-reader": try await KillReader(arguments).run()
            case "message-child": try await MessageChild(arguments).run()
            case "rebuild-kills": try await RebuildKills(arguments).run()
            case "rebuild-child": try await RebuildChild(arguments).run()
            case "histories": try await ViewHistories(arguments).run()
            case "folded-ledger": try await FoldedLedger(arguments).run()
            case "history-child": try await HistoryChild(arguments).run()
            case "view-scenario": try await ViewScenario(arguments).run()
            case "scenario": try await Scenario(arguments).run()
            case "keep-scenario": try await KeepScenario(arguments).run()
            default:
                throw Failure("usage: damagelab bitrot|crash-images|failing-calls|histories|kill9|model|tamper OPTION=VALUE …")
            }
        } catch {
            fail(error)
        }
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Does the work for each number below `count`, `jobs` of them at a time, until one fails.
func inParallel(_ count: Int, jobs: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            if number >= jobs { try await group.next() }
            group.addTask { try await work(number) }
        }
        try await group.waitForAll()
    }
}

/// `verb name=value name=value …`
struct Options {
    let verb: String
    private let values: [String: String]

    init(_ arguments: [String]) {
        verb = arguments.first ?? ""
        let pairs = arguments.dropFirst().compactMap { word -> (String, String)? in
            guard let equals = word.firstIndex(of: "=") else { return nil }
            return (String(word[..<equals]), String(word[word.index(after: equals)...]))
        }
        values = Dictionary(pairs) { $1 }
    }

    func text(_ name: String) throws -> String {
        guard let text = values[name] else { throw Failure("\(name)=… is missing") }
        return text
    }

    func text(_ name: String, _ standard: String) -> String { values[name] ?? standard }

    func number(_ name: String, _ standard: Int) throws -> Int {
        guard let text = values[name] else { return standard }
        guard let number = Int(text) else { throw Failure("\(name)=\(text) is no number") }
        return number
    }
}
