import Foundation
import TestKit
import Testing

struct KilledProcesses {
    @Test(.timeLimit(.minutes(15)))
    func `M3: whichever process is killed, what was acknowledged is there and the views equal a full fold`() throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let process = Process()
        process.executableURL = PackageRoot.url.appendingPathComponent("Tools/kill9")
        process.arguments = ["kills=40", "seed=\(seed)"]
        process.environment = ProcessInfo.processInfo.environment
            .merging(["MESHLEDGER_DAMAGELAB": try BuiltProgram.url("damagelab").path]) { $1 }
        let output = Pipe.ofOneChild()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "seed \(seed): \(text)")
        #expect(text.contains("acknowledged appends"))
    }

    @Test(.timeLimit(.minutes(15)), arguments: ["rebuild", "step"])
    func `M25: a rebuild and a custom step are killed at every batch and go on; readers see the whole old or the whole new view`(
        work: String
    ) throws {
        let process = Process()
        process.executableURL = try BuiltProgram.url("damagelab")
        process.arguments = ["rebuild-kills", "work=\(work)"]
        let output = Pipe.ofOneChild()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        #expect(text.contains("killed"), "\(text)")
    }
}
