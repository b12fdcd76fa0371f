import Foundation
import TestKit

/// Runs erasures, cuts by retention, a restoration and a merge under the shim, and opens what a crash at each call may leave of all their folders.
struct KeepImages {
    let seed: UInt64
    /// Sampled images beside the whole one, for each call.
    let samples: Int
    let limit: Int

    func run(_ shim: FaultShim) async throws -> ImageTally {
        let scratch = try ScratchFolder(onDisk: true)
        let path = URL(fileURLWithPath: scratch.path).resolvingSymlinksInPath().path + "/keep"
        try await KeepScenario.makeBase(at: path, seed: seed)
        let checker = try await KeepChecker(path)
        var folder = try CrashFolder(path)
        let file = scratch.path + "/trace"
        let lines = Shared<[String]>([])
        let (end, errors) = try Child.run(
            Child.program, ["keep-scenario", "path=\(path)", "seed=\(seed)"],
            environment: shim.environment(root: path, ["SHIM_TRACE": file, "SHIM_WHOLE": "1"])
        ) { line in lines.withLock { $0.append(line) } }
        guard end == .exited(0), lines.withLock({ $0.isEmpty }) else {
            throw Failure("keep \(seed): \(end) \(lines.withLock { $0 }) \(errors)")
        }
        let images = try ScratchFolder()
        var generator = SeededGenerator(seed: seed &+ 5)
        var tally = ImageTally()
        tally.scenarios = 1
        var facts: [KeepScenario.Told] = []
        let calls = try FolderTrace(file).calls
        // The calls of a whole scenario are many: where only some images are wanted, they are of all its parts.
        let step = max(1, (calls.count * (samples + 1) + limit - 1) / max(limit, 1))
        for (index, call) in calls.enumerated() where tally.images < limit {
            if case .acknowledged(let numbers) = call { facts += numbers.sorted().map { KeepScenario.Told($0) } }
            guard folder.apply(call), index % step == 0 else { continue }
            tally.calls += 1
            for sample in 0...samples {
                let image = folder.image(isWhole: sample == 0, &generator)
                do {
                    try CrashFolder.store(image, at: images.path + "/image")
                    tally.images += 1
                    try await checker.read(images.path + "/image", facts)
                    if tally.images % 10 == 0 {
                        try await checker.goOn(images.path + "/image", facts)
                        tally.continued += 1
                        tally.verified += 1
                    }
                } catch {
                    throw Failure("keep \(seed), call \(index), \(sample == 0 ? "all done" : "sample \(sample)"): \(error)")
                }
            }
        }
        guard facts.contains(.merged) && facts.contains(.cut(KeepScenario.cut)) || tally.images >= limit else {
            throw Failure("keep \(seed): not all was reported: \(facts.suffix(5))")
        }
        return tally
    }
}
