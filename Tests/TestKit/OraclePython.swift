public import Foundation

/// A Python that has the official decoder, and the scripts of `Tests/Oracle` that it runs.
public enum OraclePython {
    /// `$MESHLEDGER_PYTHON`, else the one that `Tools/test` makes; nil where there is none.
    public static let path: String? = {
        let made = PackageRoot.url.appendingPathComponent(".tools/venv/bin/python").path
        let wanted = ProcessInfo.processInfo.environment["MESHLEDGER_PYTHON"] ?? made
        return FileManager.default.isExecutableFile(atPath: wanted) ? wanted : nil
    }()

    /// Why a test is skipped without it.
    public static let need = "needs a Python with the official decoder, which Tools/test makes"

    /// - Parameter file: gets what the script prints, which else is returned.
    @discardableResult
    public static func run(
        _ script: String, _ arguments: [String], to file: URL? = nil, allowing accepted: (String) -> Bool = { _ in false }
    ) throws -> String {
        guard let path else { throw ProgramFailure(need) }
        let place = PackageRoot.url.appendingPathComponent("Tests/Oracle/\(script)").path
        return try Program.run(
            URL(fileURLWithPath: path), [place] + arguments, adding: ["PYTHONDONTWRITEBYTECODE": "1"], to: file,
            allowing: accepted)
    }
}

/// Traffic that `Tests/Oracle/generate.py` makes up, with the official package's encoder.
public struct GeneratedCapture: Sendable {
    public let url: URL
    /// The keys that its mesh has beside the presets, as arguments of `fold.py`.
    public let keys: [String]

    /// - Parameters:
    ///   - form: envelopes, jsonl, stream, length-prefixed, mqtt-json or events.
    ///   - name: the file's, in `folder`; what reads it may go by its ending.
    public init(
        _ form: String, seed: UInt64 = 1, _ options: [String] = [], in folder: TemporaryFolder, name: String = "generated"
    ) throws {
        url = folder.file(name)
        let printed = try OraclePython.run("generate.py", [form, url.path, "seed=\(seed)"] + options)
        keys = printed.split(separator: "\n").map(String.init)
    }

    /// The lines of a text form.
    public func lines() throws -> [String] {
        try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}

/// Programs that are run to their end, whose errors are kept apart from what they print.
public enum Program {
    @discardableResult
    public static func run(
        _ program: URL, _ arguments: [String], adding environment: [String: String] = [:], to file: URL? = nil,
        allowing accepted: (String) -> Bool = { _ in false }
    ) throws -> String {
        let scratch = try TemporaryFolder()
        let (output, errors) = (file ?? scratch.file("output"), scratch.file("errors"))
        for url in [output, errors] { try Data().write(to: url) }
        let process = try Process.start(
            program, arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            output: FileHandle(forWritingTo: output), errors: FileHandle(forWritingTo: errors))
        process.waitUntilExit()
        let text = file == nil ? String(decoding: try Data(contentsOf: output), as: UTF8.self) : ""
        guard process.terminationStatus == 0 || accepted(text) else {
            let said = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
            throw ProgramFailure("\(arguments.prefix(3)): \(text.suffix(600)) \(said.suffix(600))")
        }
        return text
    }
}

public struct ProgramFailure: Error {
    public let text: String

    public init(_ text: String) { self.text = text }
}
