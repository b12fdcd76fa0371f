internal import EventLog
import Meshtastic
import ProtobufWire
import Synchronization

/// What the radio last reported about itself and its nodes, and what packets have said of these since, with its secrets,
/// in memory only: the answers for clients of a shared radio.
///
/// Synchronization: the mutex guards everything but the flag.
final class RadioMemory: Sendable {
    private static let mostNodes = 20_000
    private static let mostFrames = 2_000

    private struct State {
        var staged: [[UInt8]] = []
        var configuration: [[UInt8]] = []
        var nodes: [UInt32: [UInt8]] = [:]
        var hasNodes = false
        /// The radio's own node number.
        var number: UInt32 = 0
    }

    private let state = Mutex(State())
    private let isShared = Atomic(false)
    let progress = RisingNumber()

    /// Whether clients may ask. What packets say of nodes is noted only then, because it costs a fifth of what receiving them does.
    func share(_ isShared: Bool) { self.isShared.store(isShared, ordering: .relaxed) }

    /// The radio's own node number; 0 until it is known.
    var number: UInt32 { state.withLock { $0.number } }

    func take(_ kind: FromRadioGlance.Kind, _ frame: [UInt8]) {
        let heard = kind == .packet && isShared.load(ordering: .relaxed) ? HeardNode(frame) : nil
        let isNew = state.withLock { state in
            switch kind {
            case .myInfo:
                state.staged = [frame]
                state.number = Self.number(frame, within: 3) ?? state.number
            case .configuration:
                if !state.staged.isEmpty, state.staged.count < Self.mostFrames { state.staged.append(frame) }
            case .nodeInfo:
                guard let node = Self.number(frame, within: 4) else { return false }
                if state.nodes[node] != nil || state.nodes.count < Self.mostNodes { state.nodes[node] = frame }
            case .configComplete(ConfigNonce.configuration):
                state.configuration = state.staged
                state.staged = []
                return true
            case .configComplete(ConfigNonce.nodes):
                state.hasNodes = true
                return true
            case .packet:
                guard let heard, heard.number != state.number else { return false }
                let known = state.nodes[heard.number]
                guard known != nil || state.nodes.count < Self.mostNodes else { return false }
                state.nodes[heard.number] = heard.frame(after: known) ?? known
            default: break
            }
            return false
        }
        if isNew { progress.raise() }
    }

    /// The complete answer to a client that asks with this nonce; nil until the radio has reported everything.
    func answer(to nonce: UInt32) -> [[UInt8]]? {
        state.withLock { state in
            guard state.hasNodes, let info = state.configuration.first else { return nil }
            var frames: [[UInt8]] = []
            if nonce != ConfigNonce.nodes {
                frames.append(info)
                if let own = state.nodes[state.number] { frames.append(own) }
                frames += state.configuration.dropFirst()
            }
            if nonce != ConfigNonce.configuration {
                let others = state.nodes.filter { $0.key != state.number || nonce == ConfigNonce.nodes }
                frames += others.sorted { $0.key < $1.key }.map(\.value)
            }
            return frames + [FromRadioMessage.configComplete(nonce)]
        }
    }

    /// The first field of the message that is a frame's variant.
    private static func number(_ frame: [UInt8], within variant: UInt32) -> UInt32? {
        var reader = WireReader(frame.rawSpan)
        do throws(WireError) {
            while let field = try reader.next() {
                guard field.tag == WireField.tag(variant, .lengthDelimited) else { continue }
                var inner = WireReader(reader.bytes(field))
                while let field = try inner.next() { if field.tag == WireField.tag(1, .varint) { return field.asUInt32 } }
            }
        } catch {
            return nil
        }
        return nil
    }
}

/// Messages from a radio to its client.
enum FromRadioMessage {
    static let queueLength: UInt32 = 16

    static func configComplete(_ nonce: UInt32) -> [UInt8] {
        var writer = WireWriter(capacity: 8)
        writer.uint32(7, nonce)
        return writer.bytes
    }

    /// The number of the packet that a packet from the radio answers; nil if it answers none.
    static func request(_ frame: [UInt8]) -> UInt32? {
        var frame = WireReader(frame.rawSpan)
        do throws(WireError) {
            while let field = try frame.next() {
                guard field.tag == WireField.tag(2, .lengthDelimited) else { continue }
                var packet = WireReader(frame.bytes(field))
                while let field = try packet.next() {
                    guard field.tag == WireField.tag(4, .lengthDelimited) else { continue }
                    var data = WireReader(packet.bytes(field))
                    while let field = try data.next() { if field.tag == WireField.tag(6, .fixed32) { return field.asUInt32 } }
                }
            }
        } catch {
            return nil
        }
        return nil
    }

    /// - Parameter result: an error of Routing, 0 for none
    static func queueStatus(result: Int32 = 0, packet: UInt32 = 0, free: UInt32 = queueLength) -> [UInt8] {
        var writer = WireWriter(capacity: 24)
        writer.message(11) { status in
            if result != 0 { status.int32(1, result) }
            status.uint32(2, free)
            status.uint32(3, queueLength)
            if packet != 0 { status.uint32(4, packet) }
        }
        return writer.bytes
    }

    /// The routing packet with which a node answers its own client.
    static func routing(error: UInt32, of packet: UInt32, by node: UInt32) -> [UInt8] {
        var writer = WireWriter(capacity: 48)
        writer.message(2) { answer in
            answer.fixed32(1, node)
            answer.fixed32(2, node)
            answer.message(4) { data in
                data.uint32(1, Port.routing)
                data.message(2) { $0.uint32(3, error) }
                data.fixed32(6, packet)
            }
            answer.fixed32(6, UInt32.random(in: 1 ... .max))
        }
        return writer.bytes
    }
}
