import EventLog
import Foundation
import Glibc
import MeshLedger
import Meshtastic
import ProtobufWire

/// Appends one message to a ledger, says so, and is killed at once, before anything else can be written.
struct MessageChild {
    private let path: String
    private let id: UInt32

    init(_ options: Options) throws {
        path = try options.text("path")
        id = UInt32(try options.number("id", 1))
    }

    func run() async throws {
        let ledger = try await Ledger.open(at: path)
        let source = try await ledger.log.source(named: "killed")
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, 1_001)
            packet.fixed32(2, NodeID.broadcast)
            packet.message(4) { data in
                data.varint(1, UInt64(Port.text))
                data.string(2, "message \(id)")
            }
            packet.fixed32(6, id)
            packet.fixed32(7, 1_780_000_000 + id)
        }
        writer.string(2, "LongFast")
        writer.string(3, "!aabbccdd")
        let sequence = try await ledger.log.append(NewEvent(writer.bytes, encoding: .serviceEnvelope, source: source))
        // Not through a buffer: what is not written when the signal comes is lost.
        let text = "acknowledged \(sequence)\n"
        _ = unsafe text.withCString { unsafe write(1, $0, strlen($0)) }
        kill(getpid(), SIGKILL)
    }
}
