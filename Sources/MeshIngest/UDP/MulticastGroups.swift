import Foundation
import NIOCore
import NIOPosix

/// The groups that a socket has joined, on each interface.
struct MulticastGroups {
    /// An interface that is removed and returns has another index, and is no longer a member of the groups.
    struct Interface: Hashable {
        var name: String
        var index: Int
    }

    /// `SO_MEMINFO`, whose ninth number says how many datagrams the socket has dropped.
    private static let memoryInformation = NIOBSDSocket.Option(rawValue: 55)

    private let options: UDPOptions
    private let channel: any Channel
    private let filter: MulticastFilter
    private(set) var joined: Set<Interface> = []
    private var dropped: UInt32 = 0

    init(_ options: UDPOptions, _ channel: any Channel, _ filter: MulticastFilter) {
        (self.options, self.channel, self.filter) = (options, channel, filter)
    }

    var isEmpty: Bool { joined.isEmpty }

    var interfaceNames: Set<String> { Set(joined.map(\.name)) }

    /// The interfaces that were asked for and are not there.
    var missingNames: Set<String> { Set(options.interfaces ?? []).subtracting(interfaceNames) }

    /// Joins on interfaces that are new, and forgets those that are gone.
    mutating func join() async throws {
        guard let sockets = channel as? any MulticastChannel else { return }
        var present: Set<Interface> = []
        for device in try System.enumerateDevices() {
            let interface = Interface(name: device.name, index: device.interfaceIndex)
            let isWanted = options.interfaces?.contains(device.name) ?? device.multicastSupported
            guard isWanted, case .v4 = device.address, present.insert(interface).inserted, !joined.contains(interface) else {
                continue
            }
            filter.add(device.interfaceIndex)
            for group in options.groups {
                do {
                    try await sockets.joinGroup(SocketAddress(ipAddress: group, port: Int(options.port)), device: device).get()
                } catch let error as IOError where [EADDRINUSE, ENODEV, EADDRNOTAVAIL].contains(error.errnoCode) {
                    continue  // already joined, or the interface has gone
                }
            }
        }
        joined = present
    }

    /// How many datagrams the system has dropped since the last call.
    mutating func newlyDropped() async throws -> UInt64 {
        guard let sockets = channel as? any SocketOptionProvider else { return 0 }
        typealias Numbers = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
        let numbers: Numbers = try await sockets.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET), name: Self.memoryInformation
        ).get()
        defer { dropped = numbers.8 }
        return UInt64(numbers.8 &- dropped)
    }
}
