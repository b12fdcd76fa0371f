import Foundation
import TestKit
import Testing

/// A small share of what `Tools/bitrot` does in full.
struct BitRotTests {
    @Test(arguments: [(65_536, 250), (1 << 20, 30)])
    func `D10: no flipped bit gives a wrong record, hangs a reader or costs another record`(bytes: Int, bits: Int) throws {
        let seed = UInt64.random(in: 0..<1 << 40)
        let outcome = try DamageLab.run("bitrot", "bytes=\(bytes)", "bits=\(bits)", "seed=\(seed)", "reports=4")
        #expect(outcome.status == 0, "seed \(seed): \(outcome.text)")
        #expect(outcome.text.contains("\(bits) images"))
    }
}

/// The tools that put ledgers to the proof, with the program that was built beside the tests.
enum DamageLab {
    static func run(_ tool: String, _ arguments: String...) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = PackageRoot.url.appendingPathComponent("Tools/\(tool)")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["MESHLEDGER_DAMAGELAB": try BuiltProgram.url("damagelab").path]) { $1 }
        let output = Pipe.ofOneChild()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
