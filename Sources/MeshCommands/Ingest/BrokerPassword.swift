import ArgumentParser
import Foundation
import MeshLedger

/// A source for the broker's password outside the address, which the process list and the shell's history would reveal.
struct BrokerPassword: ParsableArguments {
    static let variable = "MESHLEDGER_MQTT_PASSWORD"
    private static let limit = 65_535

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the password; - reads standard input. The default is \(BrokerPassword.variable).",
            valueName: "file"))
    var passwordFile: String?

    /// - Parameter address: whether the address has a password, which overrides that of the environment
    /// - Returns: nil without a password.
    func value(address: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) throws -> String? {
        guard let passwordFile else { return address ? nil : environment[Self.variable] }
        guard !address else { throw CommandError(.usage, "the password is in the address and in --password-file; give it once") }
        guard passwordFile == "-" else { return try Self.read(passwordFile) }
        let bytes = try FileHandle.standardInput.read(upToCount: Self.limit + 1) ?? Data()
        return try Self.firstLine(of: bytes, from: "standard input")
    }

    /// The password in the first line of a file.
    static func read(_ file: String) throws -> String {
        try firstLine(of: NamedFile.read(file, upTo: limit + 1), from: file)
    }

    private static func firstLine(of bytes: Data, from place: String) throws -> String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.count <= limit else {
            let what = line.isEmpty ? "is empty" : "is longer than \(limit) bytes"
            throw CommandError(.badData, "the first line of \(place) \(what); it must be the password")
        }
        return String(decoding: line, as: UTF8.self)
    }
}
