internal import LMDB
internal import ProtobufWire
internal import Synchronization

/// The sources' names and numbers, so that a known one costs only a lookup.
///
/// A new name gets its number at once, and is stored by the next transaction, at the latest with the first event that has
/// the number.
///
/// Synchronization: behind the mutex. Only the writer stores names.
package final class SourceNames: Sendable {
    private struct State {
        var stored: [String: SourceID] = [:]
        /// Sources that no transaction has stored yet.
        var reserved: [String: EventSource] = [:]
        var last: UInt32 = 0
    }

    private let state: Mutex<State>

    init(_ sources: [EventSource]) {
        var state = State()
        for source in sources {
            state.stored[source.name] = source.id
            state.last = max(state.last, source.id.rawValue)
        }
        self.state = Mutex(state)
    }

    /// The source with that name, if it is stored.
    package subscript(name: String) -> SourceID? { state.withLock { $0.stored[name] } }

    /// The number of the source with that name, a new one if necessary.
    func reserve(_ name: String, at time: Timestamp) -> SourceID {
        state.withLock { state in
            if let id = state.stored[name] ?? state.reserved[name]?.id { return id }
            state.last += 1
            let source = EventSource(id: SourceID(rawValue: state.last), name: name, created: time)
            state.reserved[name] = source
            return source.id
        }
    }

    /// The sources that the next transaction has to store.
    var reserved: [EventSource] {
        state.withLock { state in state.reserved.isEmpty ? [] : state.reserved.values.sorted { $0.id.rawValue < $1.id.rawValue } }
    }

    func stored(_ sources: [EventSource]) {
        guard !sources.isEmpty else { return }
        state.withLock { state in
            for source in sources {
                state.reserved[source.name] = nil
                state.stored[source.name] = source.id
            }
        }
    }
}

extension EventSource {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.string(1, name)
        writer.int64(2, created.microseconds)
        return writer.bytes
    }

    package init?(id: UInt32, bytes: [UInt8]) {
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
