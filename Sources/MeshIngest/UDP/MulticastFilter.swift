import NIOCore
import Synchronization

/// Which datagrams are for a source: the system also hands over those that other programs have joined a group for, and those sent to this
/// computer alone.
final class MulticastFilter: Sendable {
    private let groups: Set<String>
    /// Indices of the interfaces that were asked for; nil for all.
    private let interfaces: Mutex<Set<Int>?>

    init(_ options: UDPOptions) {
        groups = Set(options.groups.compactMap { try? SocketAddress(ipAddress: $0, port: 0).ipAddress })  // refused before
        interfaces = Mutex(options.interfaces == nil ? nil : [])
    }

    /// Lets pass what comes from this interface, too.
    func add(_ interface: Int) { _ = interfaces.withLock { $0?.insert(interface) } }

    /// - Parameter destination: as the system reports it
    func passes(_ destination: NIOPacketInfo?) -> Bool {
        guard let destination, let group = destination.destinationAddress.ipAddress, groups.contains(group) else { return false }
        return interfaces.withLock { $0?.contains(destination.interfaceIndex) ?? true }
    }
}
