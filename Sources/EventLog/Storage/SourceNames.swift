internal import LMDB
internal import ProtobufWire
internal import Synchronization

/// The sources' names and numbers, so that asking for a known one costs a look-up.
///
/// Synchronization: behind the mutex. Only the writer adds.
final class SourceNames: Sendable {
    private struct State {
        var known: [String: SourceID] = [:]
        /// Those of the transaction that is being written.
        var pending: [String: SourceID] = [:]
        var last: UInt32 = 0
        var lastPending: UInt32 = 0
    }

    private let state: Mutex<State>

    init(_ sources: [EventSource]) {
        var state = State()
        for source in sources {
            state.known[source.name] = source.id
            state.last = max(state.last, source.id.rawValue)
        }
        state.lastPending = state.last
        self.state = Mutex(state)
    }

    subscript(name: String) -> SourceID? { state.withLock { $0.known[name] } }

    /// The source of that name, new if it must be.
    func pending(_ name: String, at time: Timestamp) -> (EventSource, isNew: Bool) {
        state.withLock { state in
            if let id = state.known[name] ?? state.pending[name] {
                return (EventSource(id: id, name: name, created: time), false)
            }
            state.lastPending += 1
            let id = SourceID(rawValue: state.lastPending)
            state.pending[name] = id
            return (EventSource(id: id, name: name, created: time), true)
        }
    }

    func keepPending() {
        state.withLock { state in
            guard !state.pending.isEmpty else { return }
            state.known.merge(state.pending) { $1 }
            state.pending.removeAll()
            state.last = state.lastPending
        }
    }

    func forgetPending() {
        state.withLock { state in
            state.pending.removeAll()
            state.lastPending = state.last
        }
    }
}

extension EventSource {
    var bytes: [UInt8] {
        var writer = WireWriter()
        writer.string(1, name)
        writer.int64(2, created.microseconds)
        return writer.bytes
    }

    init?(id: UInt32, bytes: [UInt8]) {
        var name = ""
        var created = Timestamp(microseconds: 0)
        var reader = WireReader(bytes.span.rawBytes)
        do throws(WireError) {
            while let field = try reader.next() {
                if field.number == 1 { name = reader.string(field) }
                if field.number == 2 { created = Timestamp(microseconds: Int64(bitPattern: field.scalar)) }
            }
        } catch {
            return nil
        }
        self.init(id: SourceID(rawValue: id), name: name, created: created)
    }
}
