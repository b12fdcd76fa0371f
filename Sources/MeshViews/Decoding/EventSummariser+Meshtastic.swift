public import EventLog
internal import Meshtastic

extension EventSummariser {
    /// The facts of mesh traffic by which sealed blocks can be skipped, numbered as in the log's `FORMAT.md`.
    public static let meshtastic = EventSummariser(facets: [sender, destination, gateway, channelHash]) {
        encoding, payload, facts in
        if encoding.rawValue < 16 { return }  // the log's own
        if encoding == .annotation {
            // A search for a node's packets also finds the annotations about it.
            guard let annotation = Annotation(payload: payload) else { return facts.makeAllUnknown() }
            for node in annotation.nodes { facts.insert(node, Self.sender) }
            return
        }
        let isComplete = PacketFact.scan(payload, rawForm: encoding.rawValue) { fact in
            switch fact {
            case .sender(let node): facts.insert(node, Self.sender)
            case .destination(let node): facts.insert(node, Self.destination)
            case .gateway(let node): facts.insert(node, Self.gateway)
            case .channelHash(let hash): facts.insert(hash, Self.channelHash)
            }
        }
        if !isComplete { facts.makeAllUnknown() }
    }

    private static let sender: UInt8 = 1
    private static let destination: UInt8 = 2
    private static let gateway: UInt8 = 3
    private static let channelHash: UInt8 = 4
}

extension BlockFilter {
    /// Blocks that may contain a packet from or to a node.
    public static func packets(fromOrTo node: UInt32) -> BlockFilter {
        BlockFilter(facts: [[EventFact(1, node), EventFact(2, node)]])
    }

    /// Blocks that may contain a packet from a node.
    public static func packets(from node: UInt32) -> BlockFilter { BlockFilter(facts: [[EventFact(1, node)]]) }

    /// Blocks that may contain a packet from or to a node, or one that it published.
    public static func packets(naming node: UInt32) -> BlockFilter {
        BlockFilter(facts: [[EventFact(1, node), EventFact(2, node), EventFact(3, node)]])
    }

    /// Blocks that may contain a packet that a gateway published.
    public static func packets(by gateway: UInt32) -> BlockFilter { BlockFilter(facts: [[EventFact(3, gateway)]]) }

    /// Blocks that may contain a packet encrypted under a channel with this hash.
    public static func packets(underHash hash: UInt8) -> BlockFilter { BlockFilter(facts: [[EventFact(4, UInt32(hash))]]) }
}
