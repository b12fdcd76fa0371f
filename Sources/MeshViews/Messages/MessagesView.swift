package import EventLog
package import LMDB
import Meshtastic
package import Projections
import ProtobufWire
import ViewQuery

/// Texts, alerts and tapbacks by thread, with their receivers and delivery states.
///
/// A packet makes one row at its first readable reception, which counts later receptions. An acknowledgement finds
/// its message by (sender, packet id); one that arrives before its message waits for it.
package struct MessagesView: BuiltInView {
    package let name = "messages"
    package let version: UInt32 = 7
    package let oldestReadableVersion: UInt32 = 2
    package var policy: String { "cap=\(cap);waiting=\(WaitingReceipts.most);\(TimePolicy.text)" }
    package static let tables: [DeclaredTable] = [
        .rows(
            MessageRow.self, ofNode: .row { MessageRow(key: $1, value: $2)?.isOf($0.node) ?? true },
            ofPacket: .row { erasure, key, value in
                MessageRow(key: key, value: value).map { erasure.isOf($0.id, $0.from) } ?? false
            },
            countedIn: .ofSeries()),
        .rows("channels", ofNode: .nothing, ofPacket: .nothing),
        .state("packets", ofNode: .key, ofPacket: isOfPacket), .state("counts", ofNode: .nothing, ofPacket: .nothing),
        .state("waiting", ofNode: .key, ofPacket: isOfPacket), ArchiveFlag.declaration,
    ]
    /// The key has the sender, then the packet's id.
    private static let isOfPacket = DeclaredTable.OfPacket.row { erasure, key, _ in
        key.byteCount >= 8 && erasure.isOf(key.bigEndianUInt32(at: 4), key.bigEndianUInt32(at: 0))
    }
    package let cap: Int

    var rows: PendingMessages
    var channels = MessageChannels()
    var waiting = WaitingReceipts()
    var archive = ArchiveFlag()

    package init(cap: Int = 50_000) {
        self.cap = cap
        rows = PendingMessages(cap: cap)
    }

    package var pendingBytes: Int { rows.pendingBytes + waiting.pendingCount * 64 }

    package mutating func load(_ store: ViewStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        try channels.load(transaction, store.table("channels"))
        try waiting.load(transaction, store.table("waiting"))
        try archive.load(transaction, store)
        try rows.load(store)
    }

    package mutating func fold(
        _ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext
    ) throws(StorageError) {
        var next = 0
        for event in batch.annotations {
            try fold(batch, next..<event.index, after: checkpoint, &context)
            next = event.index + 1
            let stamp = batch.stamps[event.index]
            if stamp.sequence > checkpoint.rawValue {
                try annotate(event.annotation, at: stamp.headerTime, &context)
            }
        }
        try fold(batch, next..<batch.stamps.count, after: checkpoint, &context)
    }

    private mutating func fold(
        _ batch: MeshBatch, _ range: Range<Int>, after checkpoint: EventSequence, _ context: inout FoldContext
    ) throws(StorageError) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        for index in range where stamps[index].sequence > checkpoint.rawValue {
            if let twin = batch.twins[index] { try flag(packets[index], firstSequence: twin, &context) }
            guard packets[index].isOpen else {
                if stamps[index].wasReadable { try hearAgain(packets[index], stamps[index], &context) }
                continue
            }
            switch packets[index].port {
            case Port.text, Port.alert:
                if stamps[index].isFirstReadable {
                    try add(index, batch, &context)
                } else if stamps[index].supersedes {
                    try supersede(index, batch, &context)
                } else {
                    try hearAgain(packets[index], stamps[index], &context)
                }
            case Port.routing where stamps[index].isFirstReadable && packets[index].requestID != 0:
                try acknowledge(packets[index], stamps[index], batch, &context)
            default:
                continue
            }
        }
    }

    /// Another packet pretends to be this message, or has its id by chance.
    private mutating func flag(
        _ packet: DecodedPacket, firstSequence: UInt64, _ context: inout FoldContext
    ) throws(StorageError) {
        let isKnown = try rows.update(from: packet.from, id: packet.id, firstSequence: firstSequence, in: context.store) {
            $0.hasConflict = true
        }
        if isKnown { context.want(.debounced) }
    }

    /// Marks existing messages; marks of others are not remembered.
    private mutating func annotate(
        _ annotation: Annotation?, at time: UInt32, _ context: inout FoldContext
    ) throws(StorageError) {
        guard let annotation, case .messages(let keys) = annotation.subject else { return }
        for key in keys {
            try rows.update(key, in: context.store) { $0.take(annotation, at: time) }
        }
        if annotation.isArchived == true { archive.raise() }
        context.want(.immediate)
    }

    private mutating func add(_ index: Int, _ batch: MeshBatch, _ context: inout FoldContext) throws(StorageError) {
        var row = row(of: index, batch)
        let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
        if let hearings = batch.hearings[index] {
            row.receptions = UInt32(clamping: hearings.count)
            for hearing in hearings { row.hear(gateway: hearing.gateway, at: hearing.time == 0 ? .max : hearing.time) }
        } else {
            row.hear(gateway: packet.gateway, at: stamp.rowTime.earliest)
        }
        row.hasConflict = stamp.hasTwin
        if packet.id != 0 { for receipt in waiting.take(for: row.from, row.id, at: row.time) { row.apply(receipt) } }
        try rows.insert(row, in: context.store)
        context.want(.immediate)
    }

    /// Replaces the row by one of this reception, which was earlier.
    private mutating func supersede(_ index: Int, _ batch: MeshBatch, _ context: inout FoldContext) throws(StorageError) {
        var row = row(of: index, batch)
        let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
        guard let old = try rows.remove(from: row.from, id: row.id, firstSequence: row.firstSequence, in: context.store) else {
            return
        }
        (row.state, row.failureReason, row.hasConflict) = (old.state, old.failureReason, old.hasConflict)
        (row.isRead, row.archivedAt) = (old.isRead, old.archivedAt)
        (row.gateways, row.gatewayTimes) = (old.gateways, old.gatewayTimes)
        row.receptions = old.receptions &+ (stamp.isRepeat ? 0 : 1)
        if !stamp.isRepeat { row.hear(gateway: packet.gateway, at: stamp.rowTime.earliest) }
        try rows.insert(row, in: context.store)
        context.want(.immediate)
    }

    /// A message's row from the event alone.
    private mutating func row(of index: Int, _ batch: MeshBatch) -> MessageRow {
        let (packet, stamp) = (batch.packets.packets[index], batch.stamps[index])
        let channel = batch.channels[Int(stamp.channel)]
        let isDirect = packet.to != NodeID.broadcast
        let thread =
            isDirect
            ? MessageThread(between: packet.from, and: packet.to) : MessageThread.channel(channels.number(of: channel))
        var row = MessageRow(thread: thread, time: stamp.time, sequence: stamp.sequence)
        row.timeSource = stamp.timeSource
        row.firstSequence = stamp.firstSequence
        row.from = packet.from
        row.to = packet.to
        row.id = packet.id
        row.port = packet.port
        row.text = batch.packets.string(packet.payload)
        row.replyID = packet.replyID
        row.isReaction = packet.emoji != 0 && packet.replyID != 0
        row.channel = channel.name
        row.isViaMQTT = packet.flags.contains(.viaMQTT)
        row.isPrivatelyEncrypted = packet.opening == .privateKey
        if packet.flags.contains(.hasSignature) { row.signature = Self.signature(of: packet, in: batch, batch.signers[index]) }
        return row
    }

    private static func signature(of packet: DecodedPacket, in batch: MeshBatch, _ signer: [UInt8]?) -> SignatureState {
        guard let signer else { return .unchecked }
        return switch PacketSignature.validForm(of: packet, in: batch.packets, publicKey: signer) {
        case .whole: .valid
        case .payloadOnly: .valid280
        case nil: .invalid
        }
    }

    private mutating func hearAgain(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ context: inout FoldContext
    ) throws(StorageError) {
        guard !stamp.isRepeat else { return }
        let isKnown = try rows.update(
            from: packet.from, id: packet.id, firstSequence: stamp.firstSequence, in: context.store
        ) { row in
            row.receptions &+= 1
            row.hear(gateway: packet.gateway, at: stamp.rowTime.earliest)
        }
        if isKnown { context.want(.debounced) }
    }

    /// A routing packet answers the packet `requestID` from its addressee.
    private mutating func acknowledge(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) throws(StorageError) {
        let routing: Routing
        do {
            routing = try Routing(decoding: batch.packets.payload(of: packet))
        } catch {
            return  // the nodes view has put it into quarantine
        }
        guard case .error(let reason) = routing else { return }
        let receipt = Receipt(sequence: stamp.sequence, time: stamp.time, from: packet.from, reason: reason)
        let isKnown = try rows.updateNewest(from: packet.to, id: packet.requestID, in: context.store) {
            $0.apply(receipt)
        }
        if !isKnown { waiting.keep(receipt, for: packet.to, packet.requestID) }
        context.want(.immediate)
    }

    package func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try rows.write(to: &transaction, store: store)
        try channels.write(to: &transaction, store.table("channels"))
        try waiting.write(to: &transaction, store.table("waiting"))
        try archive.write(to: &transaction, store)
    }

    package mutating func committed() {
        rows.committed()
        channels.committed()
        waiting.committed()
        archive.committed()
    }
}

extension MessageRow {
    /// - Parameter time: when the event arrived.
    mutating func take(_ annotation: Annotation, at time: UInt32) {
        if let isRead = annotation.isRead { self.isRead = isRead }
        if let isArchived = annotation.isArchived { archivedAt = isArchived ? max(annotation.time ?? time, 1) : 0 }
    }

    /// Raises the state according to an acknowledgement; it never falls.
    mutating func apply(_ receipt: Receipt) {
        let reached: DeliveryState
        if receipt.reason != 0 {
            reached = .failed
        } else {
            reached = receipt.from == to ? .delivered : .implicitlyAcknowledged
        }
        // Among several reasons the lowest counts, whatever the order of their arrival.
        guard reached > state || reached == .failed && state == .failed && receipt.reason < failureReason else { return }
        state = reached
        failureReason = reached == .failed ? receipt.reason : 0
    }
}
