import NIOCore
import Synchronization

/// Which datagrams are for a source: the system also hands over those that other programs have joined a group for, and those sent to this
/// computer alone.
final class MulticastFilter: Sendable {
    private let groups: Set<String>
    /// Indices of the interfaces that were asked for; nil for all.
    private let interfaces: Mutex<Set<Int>?>

    convenience init(_ options: UDPOptions) {
        self.init(groups: options.groups, interfaces: options.interfaces == nil ? nil : [])
    }

    init(groups: [String], interfaces: Set<Int>? = nil) {
        self.groups = Set(groups.compactMap { try? SocketAddress(ipAddress: $0, port: 0).ipAddress })  // nil is refused before
        self.interfaces = Mutex(interfaces)
    }

    /// Lets pass what comes from this interface, too.
    func add(_ interface: Int) { _ = interfaces.withLock { $0?.insert(interface) } }

    /// - Parameter destination: as the system reports it
    func passes(_ destination: NIOPacketInfo?) -> Bool {
        guard let destination, let group = destination.destinationAddress.ipAddress, groups.contains(group) else { return false }
        return interfaces.withLock { $0?.contains(destination.interfaceIndex) ?? true }
    }
}
