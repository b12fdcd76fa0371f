import Meshtastic
import Projections
import ProtobufWire

/// The first public key that each node announced: what its direct messages were sealed with and its signatures are checked with.
struct AnnouncedKeys: Sendable {
    static let entryKind = UInt8(ascii: "k")
    /// Nodes beyond these are not learned: whoever invents nodes must not fill memory.
    static let mostNodes = 65_536

    private var keys: [UInt32: [UInt8]] = [:]

    subscript(node: UInt32) -> [UInt8]? { keys[node] }

    /// Takes the key of a node that has none yet.
    /// - Returns: whether it is new.
    mutating func learn(_ key: [UInt8], of node: UInt32) -> Bool {
        guard keys[node] == nil, keys.count < Self.mostNodes else { return false }
        keys[node] = key
        return true
    }

    mutating func restore(_ entry: Carry.Entry) -> (node: UInt32, key: [UInt8])? {
        guard entry.key.count == 5 else { return nil }
        let node = entry.key.rawSpan.bigEndianUInt32(at: 1)
        keys[node] = entry.value
        return (node, entry.value)
    }

    static func entry(_ key: [UInt8], of node: UInt32, sequence: UInt64) -> Carry.Entry {
        Carry.Entry(sequence: sequence, key: [entryKind] + bigEndian(node), value: key)
    }

    /// The key in a User, read without the rest: most announcements are repetitions.
    static func key(in user: RawSpan) -> [UInt8]? {
        var key: [UInt8]?
        var reader = WireReader(user)
        do throws(WireError) {
            while let field = try reader.next() {
                if field.tag == WireField.tag(8, .lengthDelimited) {
                    key = field.range.count == 32 ? reader.bytes(field).asArray : nil
                }
            }
        } catch {
            return nil  // malformed: the nodes view lists it
        }
        return key
    }
}
