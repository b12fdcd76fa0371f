import Meshtastic
import Projections
import ProtobufWire

/// The first public key that each node announced, by the time at which it was heard, which live traffic cannot backdate: its direct messages were
/// encrypted with it and its signatures are verified with it.
struct AnnouncedKeys: Sendable {
    static let entryKind = UInt8(ascii: "k")
    /// Keys of more nodes are not stored, so that invented nodes cannot fill memory.
    static let mostNodes = 65_536

    private struct Announcement {
        var key: [UInt8]
        /// The latest of all times where it is unknown.
        var heard: UInt32
    }

    private var announcements: [UInt32: Announcement] = [:]

    subscript(node: UInt32) -> [UInt8]? { announcements[node]?.key }

    /// Whether an announcement heard at this time can be the first one.
    @inline(__always)
    func mayBeFirst(of node: UInt32, heard: UInt32) -> Bool {
        guard let known = announcements[node] else { return announcements.count < Self.mostNodes }
        return heard != 0 && heard < known.heard
    }

    /// Stores the key of a node that has no key yet, or whose known key was announced later.
    /// - Returns: the entry to store; nil if nothing changes.
    mutating func learn(
        _ key: [UInt8], of node: UInt32, heard: UInt32, sequence: UInt64
    ) -> StageState.Entry? {
        guard mayBeFirst(of: node, heard: heard) else { return nil }
        let announcement = Announcement(key: key, heard: heard == 0 ? .max : heard)
        announcements[node] = announcement
        return StageState.Entry(
            sequence: sequence, key: [Self.entryKind] + bigEndian(node), value: key + bigEndian(announcement.heard))
    }

    mutating func restore(_ entry: StageState.Entry) -> (node: UInt32, key: [UInt8])? {
        guard entry.key.count == 5, entry.value.count >= 32 else { return nil }
        let node = entry.key.rawSpan.bigEndianUInt32(at: 1)
        // Earlier versions did not store the time.
        let heard = entry.value.count == 36 ? entry.value.rawSpan.bigEndianUInt32(at: 32) : UInt32.max
        let key = Array(entry.value.prefix(32))
        announcements[node] = Announcement(key: key, heard: heard)
        return (node, key)
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
