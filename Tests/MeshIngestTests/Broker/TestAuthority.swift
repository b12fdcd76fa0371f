import Foundation
import TestKit

/// A certificate authority of the test's own, made with openssl.
struct TestAuthority {
    static let program = "/usr/bin/openssl"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    let folder: TemporaryFolder

    init(in folder: TemporaryFolder) throws {
        self.folder = folder
        try Self.run(
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "authority.key", "-out", "authority.crt", "-days",
                "2", "-subj",
                "/CN=Test authority",
            ], in: folder)
    }

    func issue(_ name: String, host: String) throws { try Self.issue(name, host: host, in: folder) }

    /// Writes `name.crt` and `name.key` for `host`, signed by the authority in the folder.
    static func issue(_ name: String, host: String, in folder: TemporaryFolder) throws {
        try Data("subjectAltName=DNS:\(host)\n".utf8).write(to: folder.file("\(name).ext"))
        try run(
            ["req", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(host)"],
            in: folder)
        try run(
            [
                "x509", "-req", "-in", "\(name).csr", "-CA", "authority.crt", "-CAkey", "authority.key", "-CAcreateserial",
                "-days", "2",
                "-extfile", "\(name).ext", "-out", "\(name).crt",
            ], in: folder)
    }

    private static func run(_ arguments: [String], in folder: TemporaryFolder) throws {
        let run = try FinishedProcess(URL(fileURLWithPath: program), arguments, in: folder.url)
        guard run.status == 0 else { throw BrokerFailure("openssl \(arguments.first ?? "") failed: \(run.text)") }
    }
}
