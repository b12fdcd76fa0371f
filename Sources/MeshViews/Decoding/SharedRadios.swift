import EventLog
import Meshtastic

/// On which radio's channels the packets of a source are: its own, or of a client those of the shared radio.
struct SharedRadios: Sendable {
    private var radios: [SourceID: SourceID] = [:]
    private var newest: UInt32 = 0
    private var hasClientWithoutRadio = false

    init() {}

    init(_ sources: [EventSource]) {
        let ids = Dictionary(sources.map { ($0.name, $0.id) }) { first, _ in first }
        for source in sources {
            newest = max(newest, source.id.rawValue)
            guard let name = ClientSourceName.radio(of: source.name) else {
                radios[source.id] = source.id
                continue
            }
            radios[source.id] = ids[name] ?? source.id
            hasClientWithoutRadio = hasClientWithoutRadio || ids[name] == nil
        }
    }

    func knows(_ source: SourceID) -> Bool { radios[source] != nil }

    func radio(of source: SourceID) -> SourceID? { radios[source] }

    /// Whether the source may be the radio of a client whose packets were folded before that radio had a source.
    @inline(__always)
    func mayComplete(by source: SourceID) -> Bool { hasClientWithoutRadio && source.rawValue > newest }
}
