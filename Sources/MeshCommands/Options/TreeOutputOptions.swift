import ArgumentParser

/// How a packet is printed, and where: it is a tree, which CSV has no form for.
struct TreeOutputOptions: ParsableArguments {
    enum Format: String, NamedChoice {
        case table, json, jsonl
    }

    @Option(name: .shortAndLong, help: ArgumentHelp("table for people; json and jsonl for programs.", valueName: "format"))
    var format = Format.table
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Write to this file instead.", valueName: "file"), completion: .file())
    var output: String?
    @Flag(help: "Do not page long output on a terminal ($PAGER, by default less).") var noPager = false
    // They are about tables with columns and local times, and were taken here before.
    @Flag(help: .hidden) var wide = false
    @Flag(help: .hidden) var utc = false

    /// - Parameter isLive: whether a file is written in place, since others read it meanwhile.
    func target(isLive: Bool = false) throws -> StandardOutput {
        try output.map { try StandardOutput(file: $0, isLive: isLive) } ?? StandardOutput(pages: !noPager)
    }
}
