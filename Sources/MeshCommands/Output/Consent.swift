import Foundation

/// A question to the user at the terminal.
enum Consent {
    /// Whether standard input is a terminal, so that someone can answer.
    static var canAsk: Bool { isatty(0) == 1 }

    /// - Returns: whether the answer is `yes`; anything else, and the end of the input, is no.
    static func isGiven(_ question: String) -> Bool {
        StandardOutput.rawError("meshledger: \(question) [yes/no] ")
        return readLine()?.trimmingCharacters(in: .whitespaces).lowercased() == "yes"
    }
}
