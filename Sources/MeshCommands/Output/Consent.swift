import Foundation

/// A question to the user at the terminal.
enum Consent {
    /// Whether standard input is a terminal, so that someone can answer.
    static var canAsk: Bool { isatty(0) == 1 }

    /// - Parameter isForGood: whether the whole word is needed, since it cannot be undone.
    /// - Returns: whether the answer is `yes`; anything else, and the end of the input, is no.
    static func isGiven(_ question: String, isForGood: Bool = true) -> Bool {
        StandardOutput.rawError("meshledger: \(question) [\(isForGood ? "yes/no" : "y/n")] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "yes" || answer == "y" && !isForGood
    }
}
