/// The positions in the log at which disconnected clients of a shared radio stopped, so that they can continue there.
///
/// The stream protocol does not identify clients. A client has no name and no node (what it sends goes out from the radio's node), and the nonces of its
/// requests are constants in the apps and random in the Python library. So a client is recognised by the address that it
/// connects from. Clients with the same address cannot be distinguished: each that returns gets the earliest of their
/// positions, which stays until as many have returned as had left, so that none misses anything in whatever order they
/// return. All but one may get some packets twice. Only where one comes and goes several times, another that is away
/// meanwhile may miss what came before the other's next position. If that one was the only one each time, the other positions are
/// given up: most are of a connection that died, and the client would get everything twice from then on.
struct ClientPlaces: Equatable {
    static let mostOfAddress = 64
    static let mostAddresses = 256
    /// After how many times alone a client is the only one of its address.
    static let timesAlone = 2

    /// By address, the last event sent to each of its clients, ascending.
    private(set) var places: [String: [UInt64]] = [:]
    /// How many more clients get the earliest position of an address, if one has got it. It is not stored: after a
    /// restart, all may return again.
    private var turns: [String: Int] = [:]
    /// How many times in a row a client of an address was alone. It is not stored.
    private var alone: [String: Int] = [:]

    init() {}

    /// The position of a client from an address; nil if it is new.
    mutating func take(_ address: String) -> UInt64? {
        guard var left = places[address], let first = left.first else { return nil }
        let turn = (turns[address] ?? left.count) - 1
        if turn > 0, left.count > 1 {
            // One of the others has returned, or this one.
            left.removeLast()
            turns[address] = turn
        } else {
            left.removeFirst()
            turns[address] = nil
        }
        places[address] = left.isEmpty ? nil : left
        return first
    }

    /// If there are too many, the earliest is dropped.
    ///
    /// - Parameter wasAlone: whether no other client of the address was connected meanwhile; nil if that does not count
    /// - Returns: the address of which a position was dropped, if one was
    @discardableResult
    mutating func leave(_ address: String, at place: UInt64, wasAlone: Bool? = nil) -> String? {
        guard address.utf8.count <= UInt8.max else { return address }
        var left = places[address] ?? []
        if let wasAlone { alone[address] = wasAlone && !left.isEmpty ? (alone[address] ?? 0) + 1 : nil }
        if alone[address] == Self.timesAlone { (left, turns[address], alone[address]) = ([], nil, nil) }
        let index = left.firstIndex { $0 > place } ?? left.endIndex
        left.insert(place, at: index)
        // Another one is the earliest now.
        if index == 0 { turns[address] = nil }
        let isFull = left.count > Self.mostOfAddress
        if isFull {
            left.removeFirst()
            turns[address] = nil
        }
        places[address] = left
        guard places.count > Self.mostAddresses else { return isFull ? address : nil }
        let oldest = places.min { ($0.value.last ?? 0, $0.key) < ($1.value.last ?? 0, $1.key) }
        if let oldest { (places[oldest.key], turns[oldest.key], alone[oldest.key]) = (nil, nil, nil) }
        return oldest?.key
    }

    /// For each address: its length, its text, the number of positions, and these, each as eight little-endian bytes.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (address, left) in places.sorted(by: { $0.key < $1.key }) {
            bytes.append(UInt8(truncatingIfNeeded: address.utf8.count))
            bytes += address.utf8
            bytes.append(UInt8(truncatingIfNeeded: left.count))
            bytes += EventNumbers.bytes(left)
        }
        return bytes
    }

    /// Positions that cannot be read are dropped.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        while let length = take(1)?.first, let address = take(Int(length)), let count = take(1)?.first {
            let left = take(min(Int(count) * EventNumbers.size, rest.count)) ?? []
            for place in EventNumbers.events(left) { leave(String(decoding: address, as: UTF8.self), at: place) }
        }
    }
}

/// How the numbers of events are stored: each in eight little-endian bytes.
enum EventNumbers {
    static let size = 8

    static func bytes(_ events: [UInt64]) -> [UInt8] {
        events.flatMap { event in (0..<size).map { UInt8(truncatingIfNeeded: event >> (8 * UInt64($0))) } }
    }

    /// Without what is left of the last one.
    static func events(_ bytes: some RandomAccessCollection<UInt8>) -> [UInt64] {
        var (rest, events) = (bytes[...], [UInt64]())
        while rest.count >= size {
            events.append(rest.prefix(size).reversed().reduce(0) { $0 << 8 | UInt64($1) })
            rest = rest.dropFirst(size)
        }
        return events
    }
}
