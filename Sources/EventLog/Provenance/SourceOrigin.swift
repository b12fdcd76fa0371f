/// A source of the log that events come from, under its name in other logs: `NAME @LEDGER`, and `@LEDGER` for events that the log itself wrote.
package struct SourceOrigin: Sendable, Hashable {
    let ledger: LedgerID
    /// The name there; nil for the log itself.
    let name: String?

    package var copiedName: String { (name.map { $0 + " " } ?? "") + "@" + ledger.text }

    /// - Parameters:
    ///   - ledger: where the event was first appended.
    ///   - name: the source's name in the log that holds the event now; nil for that log itself.
    package init(_ ledger: LedgerID, named name: String?) {
        self.ledger = ledger
        guard let name else {
            self.name = nil
            return
        }
        let mark = "@" + ledger.text
        if name == mark {
            self.name = nil
        } else {
            self.name = name.hasSuffix(" " + mark) ? String(name.dropLast(mark.count + 1)) : name
        }
    }
}
