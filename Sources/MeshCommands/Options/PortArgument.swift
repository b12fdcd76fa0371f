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
        if let number = UInt32(text) ?? FieldTable.port(named: text) { return number }
        let wanted = text.uppercased()
        let guess = KnownName.suggestion(for: wanted.hasSuffix("_APP") ? wanted : wanted + "_APP", among: KnownNames.portNames)
        throw CommandError(
            .noInput,
            wanted == "UNREADABLE"
                ? "unreadable is no port; `--where port=unreadable` chooses what no known key opens"
                : "there is no port \(text)\(guess); a port is a number, or one of \(KnownNames.portNames.joined(separator: ", "))"
        )
    }
}
