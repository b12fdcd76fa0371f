import ArgumentParser
import MeshTables
import Meshtastic

/// A port, given as `TEXT_MESSAGE_APP`, `text_message`, or its number.
struct PortArgument: ExpressibleByArgument, Equatable {
    var text: String

    static var defaultCompletionKind: CompletionKind { .list(KnownNames.portNames) }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        text = argument
    }

    func number() throws(CommandError) -> UInt32 {
        if let number = UInt32(text) ?? FieldTable.port(named: text), number <= Port.highest { return number }
        let (wanted, names) = (text.uppercased(), KnownNames.portNames.joined(separator: ", "))
        let spellings = wanted.hasSuffix("_APP") ? [wanted] : [wanted + "_APP", wanted]
        let guesses = spellings.lazy.map { KnownName.suggestion(for: $0, among: KnownNames.portNames) }
        let guess = guesses.first { !$0.isEmpty } ?? ""
        throw CommandError(
            .noInput,
            wanted == "UNREADABLE"
                ? "unreadable is no port; `--where port=unreadable` chooses what no known key opens"
                : "there is no port \(text)"
                    + KnownName.sentence(guess, "a port is a number up to \(Port.highest), or one of \(names)")
        )
    }
}
