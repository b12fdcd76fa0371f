public import EventLog
import MeshCrypto
import MeshViews
import Meshtastic
import ProtobufWire

/// Which events are to be erased.
public enum ErasureSelection: Sendable, Hashable {
    /// Packets that the node sent, and what radios and gateways report in its name: its entries in the node lists of radios.
    /// Also what was recorded about it, and about its messages.
    /// With `mentions`, also packets to it, and those that it passed on as a gateway.
    case node(UInt32, mentions: Bool = false)
    /// All receptions of the packets with this id, of one sender or of any: ids recur.
    case packet(id: UInt32, from: UInt32? = nil)
    case sequences([ClosedRange<EventSequence>])

    /// As stored in the log. It contains no names, since they may be what is to be erased.
    public var description: String {
        switch self {
        case .node(let node, let mentions): "node \(NodeID.text(node))" + (mentions ? " with mentions" : "")
        case .packet(let id, let sender): "packet \(id)" + (sender.map { " from \(NodeID.text($0))" } ?? "")
        case .sequences: "sequences"
        }
    }

    /// The selection that a log's request describes; nil if it is hidden or in other words.
    package init?(request: String) {
        let words = request.split(separator: " ").map(String.init)
        let named = words.count > 1 ? NodeID.parse(words[words[0] == "packet" ? words.count - 1 : 1]) : nil
        switch (words.first, words.count) {
        case ("node", 2), ("node", 4):
            guard let named else { return nil }
            self = .node(named, mentions: words.count == 4)
        case ("packet", 2), ("packet", 4):
            guard let id = UInt32(words[1]), words.count == 2 || named != nil else { return nil }
            self = .packet(id: id, from: words.count == 4 ? named : nil)
        default: return nil
        }
        guard description == request else { return nil }
    }

    fileprivate static let hiddenMark = " sha256:"

    /// Replaces `description` in the log if the log must not reveal whose packets were erased: the kind, and the SHA-256 of the salt, a
    /// space and the description, both in hexadecimal. Anyone who knows the salt, which the log does not have, can check it:
    /// `printf '%s node !19025c00' SALT | sha256sum`.
    public func hidden(salt: String) -> String {
        let kind = description.prefix { $0 != " " }
        return "\(kind)\(Self.hiddenMark)\(Hexadecimal.text(SHA256.hash(Array("\(salt) \(description)".utf8))))"
    }

    /// The subjects whose rows are removed from the baselines of dropped events.
    public var forgotten: ErasureSubject? {
        switch self {
        case .node(let node, let mentions): .node(ErasedNode(node, includesMentions: mentions))
        case .packet(let id, let sender): .packet(ErasedPacket(id: id, sender: sender))
        case .sequences: nil
        }
    }

    /// Whether the events are found by their contents.
    var isSearched: Bool {
        if case .sequences = self { return false }
        return true
    }

    /// Sealed blocks that cannot hold such events are skipped.
    var filter: BlockFilter? {
        switch self {
        case .node(let node, false): .packets(from: node)
        case .node(let node, true): .packets(naming: node)
        case .packet(_, let sender): sender.map { .packets(from: $0) }
        case .sequences: nil
        }
    }
}

extension Erasure {
    /// Whose rows go with it from the baselines of dropped events; nil if its request does not say.
    var subject: ErasureSubject? { ErasureSelection(request: request)?.forgotten }

    /// Whether its request is only known to those who have the salt.
    package var isHidden: Bool { request.contains(ErasureSelection.hiddenMark) }
}

/// Tests whether an event is selected, by the cleartext of its packet: no key is needed, and no event is missed without one.
struct ErasureMatcher {
    private let selection: ErasureSelection
    private let opener = PacketOpener(keyring: Keyring())
    private var batch = PacketBatch()

    init(_ selection: ErasureSelection) { self.selection = selection }

    mutating func matches(_ payload: RawSpan, _ encoding: PayloadEncoding) -> Bool {
        if encoding == .annotation, selection.isSearched {
            return Annotation(payload: payload)?.isAbout(selection) ?? false
        }
        switch selection {
        case .node(let node, let mentions):
            var isFound = false
            _ = PacketFact.scan(payload, rawForm: encoding.rawValue) { fact in
                switch fact {
                case .sender(let number): isFound = isFound || number == node
                case .destination(let number), .gateway(let number): isFound = isFound || mentions && number == node
                case .channelHash: break
                }
            }
            return isFound
        case .packet(let id, let sender):
            guard let form = CaptureForm(rawValue: encoding.rawValue) else { return false }
            batch.removeAll(keepingCapacity: true)
            opener.decode(payload, form: form, into: &batch)
            guard let packet = batch.packets.first, packet.hasPacket, packet.id == id else { return false }
            return sender.map { packet.from == $0 } ?? true
        case .sequences(let ranges): return !ranges.isEmpty
        }
    }
}
