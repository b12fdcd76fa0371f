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
        let isTyped = passwordFile == "-"
        let bytes =
            try isTyped
            ? FileHandle.standardInput.read(upToCount: Self.limit + 1) ?? Data()
            : NamedFile.read(passwordFile, upTo: Self.limit + 1)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.count <= Self.limit else {
            let what = line.isEmpty ? "is empty" : "is longer than \(Self.limit) bytes"
            throw CommandError(
                .badData,
                "the first line of \(passwordFile == "-" ? "standard input" : passwordFile) \(what); it must be the password")
        }
        return String(decoding: line, as: UTF8.self)
    }
}
