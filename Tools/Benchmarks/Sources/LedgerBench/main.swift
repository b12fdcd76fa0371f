import Foundation

let usage = """
    ledger-bench append FILE LEDGER BATCH [COUNT] | append-arrays FILE LEDGER BATCH [COUNT]
    ledger-bench append-tasks FILE LEDGER TASKS [COUNT] | suspend-tasks TASKS COUNT
    ledger-bench append-plain FILE LEDGER BATCH [COUNT] | append-sealing FILE LEDGER BATCH [COUNT] | seal LEDGER
    ledger-bench append-paced FILE LEDGER BATCH [COUNT] | append-compacting FILE LEDGER BATCH [COUNT]
    ledger-bench append-growth FILE LEDGER BATCH COUNT | append-endlessly FILE LEDGER BATCH | open LEDGER
    ledger-bench scan LEDGER [checksums] | verify LEDGER
    ledger-bench make-history FILE LEDGER COUNT | ask-history LEDGER ROUNDS
    ledger-bench append-rebuilding FILE LEDGER OTHER BATCH | append-beside FILE LEDGER OTHER BATCH
    ledger-bench rebuild-nodes LEDGER ROUNDS | read-swaps LEDGER
    ledger-bench replay LEDGER | replay-four LEDGER | replay-rows LEDGER | replay-all-rows LEDGER | replay-custom LEDGER
    ledger-bench replay-with-custom LEDGER
    ledger-bench memory LEDGER | last100 LEDGER COUNT | scan-positions LEDGER ROUNDS
    """

let arguments = Array(CommandLine.arguments.dropFirst())
func number(_ index: Int, _ standard: Int) -> Int { arguments.count > index ? Int(arguments[index]) ?? standard : standard }

do {
    switch (arguments.first, arguments.count) {
    case ("append", 4...5): try await append(arguments[1], arguments[2], batch: number(3, 1_000), limit: number(4, .max))
    case ("append-arrays", 4...5):
        try await appendArrays(arguments[1], arguments[2], batch: number(3, 1_000), limit: number(4, .max))
    case ("append-tasks", 4...5):
        try await appendConcurrently(arguments[1], arguments[2], tasks: number(3, 64), limit: number(4, .max))
    case ("suspend-tasks", 3): try await suspendConcurrently(tasks: max(number(1, 64), 1), count: number(2, 200_000))
    case ("append-plain", 4...5), ("append-sealing", 4...5):
        try await appendWhileSealing(
            arguments[1], arguments[2], batch: number(3, 1_000), limit: number(4, .max), seals: arguments[0] == "append-sealing")
    case ("append-paced", 4...5), ("append-compacting", 4...5):
        try await appendWhileCompacting(
            arguments[1], arguments[2], batch: number(3, 100), limit: number(4, .max),
            compacts: arguments[0] == "append-compacting")
    case ("seal", 2): try await seal(arguments[1])
    case ("append-growth", 5): try await appendGrowing(arguments[1], arguments[2], batch: number(3, 1_000), count: number(4, 0))
    case ("append-endlessly", 4): try await appendEndlessly(arguments[1], arguments[2], batch: number(3, 1_000))
    case ("open", 2): try await openLog(arguments[1])
    case ("verify", 2): try verify(arguments[1])
    case ("scan", 2...3): try scan(arguments[1], checksums: arguments.count > 2)
    case ("append-rebuilding", 5), ("append-beside", 5):
        try await appendWhileRebuilding(
            arguments[1], arguments[2], beside: arguments[3], batch: number(4, 100), isOwn: arguments[0] == "append-rebuilding")
    case ("rebuild-nodes", 3): try await rebuildNodes(arguments[1], rounds: number(2, 10))
    case ("read-swaps", 2): try await readSwaps(arguments[1])
    case ("replay", 2): try await replay(arguments[1])
    case ("replay-four", 2): try await replay(arguments[1], onlyBaselineViews: true)
    case ("replay-rows", 2): try await replay(arguments[1], onlyBaselineViews: true, keepsIndexes: false)
    case ("replay-all-rows", 2): try await replay(arguments[1], keepsIndexes: false)
    case ("replay-custom", 2): try await replayCustom(arguments[1])
    case ("replay-with-custom", 2): try await replay(arguments[1], customViews: [PortUses.self])
    case ("memory", 2): try await replayMemory(arguments[1])
    case ("make-history", 4): try await makeHistory(arguments[1], arguments[2], count: number(3, 0))
    case ("ask-history", 3): try await askHistory(arguments[1], rounds: max(number(2, 100), 1))
    case ("scan-positions", 3): try await scanPositions(arguments[1], rounds: max(number(2, 1), 1))
    case ("last100", 3): try await newestPositions(arguments[1], count: number(2, 100_000))
    default:
        FileHandle.standardError.write(Data((usage + "\n").utf8))
        exit(2)
    }
} catch {
    FileHandle.standardError.write(Data("ledger-bench: \(error)\n".utf8))
    exit(1)
}
