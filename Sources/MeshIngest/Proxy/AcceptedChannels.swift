import NIOCore
import Synchronization

/// Connections that were accepted and are not served yet. When nobody serves them any more, they have to be closed: NIO would leave them open.
final class AcceptedChannels: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    func add(_ channel: any Channel) { channels.withLock { $0[ObjectIdentifier(channel)] = channel } }

    func remove(_ channel: any Channel) { _ = channels.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) } }

    func closeAll() { for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) } }
}
