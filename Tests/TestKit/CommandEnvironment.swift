public import Foundation

extension ProcessInfo {
    /// What a command under test knows of its surroundings: nothing of this machine's, but for the break that `Tools/prove mutate` makes.
    public static func commandEnvironment(ledger: String, home: String) -> [String: String] {
        var environment = ["MESHLEDGER": ledger, "HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
        environment["MESHLEDGER_BREAK"] = processInfo.environment["MESHLEDGER_BREAK"]
        return environment
    }
}
