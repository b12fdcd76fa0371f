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

    @Test(.timeLimit(.minutes(15)), arguments: ["rebuild", "step", "all"])
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

    /// `Tools/histories` makes a thousand.
    @Test(.timeLimit(.minutes(15)))
    func
        `K13: after random histories with kills, late keys and changed policies each view is that of one fold, or of sealed blocks`()
        throws
    {
        let seed = UInt64.random(in: 1...999_999)
        let process = Process()
        process.executableURL = PackageRoot.url.appendingPathComponent("Tools/histories")
        process.arguments = ["count=200", "jobs=4", "seed=\(seed)"]
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
        #expect(text.contains("200 histories"), "\(text)")
    }
}
