package import LMDB
import Projections
import ProtobufWire

/// The numbers that the messages view assigns to channels, in the order of their first messages.
package struct MessageChannels: Sendable {
    /// More channels share one thread, so that invented names cannot fill the view.
    static let mostChannels = 4_096

    private var channels: [ChannelIdentity] = []
    private var numbers: [ChannelIdentity: UInt32] = [:]
    private var storedCount = 0

    mutating func number(of channel: ChannelIdentity) -> UInt32 {
        if let known = numbers[channel] { return known }
        if channels.count >= Self.mostChannels, channel != ChannelTraffic.others { return number(of: ChannelTraffic.others) }
        let number = UInt32(channels.count)
        channels.append(channel)
        numbers[channel] = number
        return number
    }

    mutating func load(_ transaction: borrowing ReadTransaction, _ table: RawTable) throws(StorageError) {
        channels = try Self.read(transaction, table)
        for (number, channel) in channels.enumerated() { numbers[channel] = UInt32(number) }
        storedCount = channels.count
    }

    package static func read(
        _ transaction: borrowing ReadTransaction, _ table: RawTable
    ) throws(StorageError) -> [ChannelIdentity] {
        var channels: [ChannelIdentity] = []
        var cursor = try transaction.cursor(table)
        while try cursor.next() {
            channels.append(ChannelRow.decode(cursor.value)?.channel ?? ChannelTraffic.others)
        }
        return channels
    }

    func write(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        for number in storedCount..<channels.count {
            var writer = WireWriter()
            if !channels[number].name.isEmpty { writer.string(1, channels[number].name) }
            if channels[number].keyFingerprint != 0 { writer.fixed64(2, channels[number].keyFingerprint) }
            try transaction.put(table, key: bigEndian(UInt32(number)).rawSpan, value: writer.bytes.rawSpan)
        }
    }

    mutating func committed() { storedCount = channels.count }
}
