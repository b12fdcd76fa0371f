import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing

/// Views are made from the log, and made again where somebody takes their files away while the ledger is open.
struct ViewsTakenUp {
    private typealias Packet = MeshPacketBuilder

    enum Loss: CaseIterable {
        case view, allViews
        /// By an older copy of itself.
        case replaced
    }

    @Test(arguments: Loss.allCases) func `a view whose files go under a writer is made again`(_ loss: Loss) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "test")
        func append(_ ids: Range<UInt32>) async throws {
            let packets = ids.map { Packet(from: 1_001, id: $0, rxTime: 1_780_000_000 + $0, payload: Array("text \($0)".utf8)) }
            _ = try await ledger.log.append(packets.map { $0.event(source) })
            try await ledger.catchUp()
        }
        try await append(1..<11)
        let (view, copy) = (path + "/views/messages", folder.path + "/copy")
        try FileManager.default.copyItem(atPath: view, toPath: copy)
        try await append(11..<21)
        switch loss {
        case .view: try FileManager.default.removeItem(atPath: view)
        case .allViews: try FileManager.default.removeItem(atPath: path + "/views")
        case .replaced:
            try FileManager.default.removeItem(atPath: view)
            try FileManager.default.moveItem(atPath: copy, toPath: view)
        }
        try await append(21..<31)
        #expect(try ledger.messages().count == 30)
        try await append(31..<41)
        #expect(try ledger.messages().count == 40)
        try await ledger.close()
        let again = try await Ledger.open(at: path)
        try await again.catchUp()
        #expect(try again.messages().count == 40)
        try await again.close()
    }

    @Test(arguments: [false, true])
    func `a view whose files go while nothing comes is made again when somebody asks for current views`(flushes: Bool)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "test")
        let packet = Packet(from: 1_001, id: 7, rxTime: 1_780_000_000, payload: Array("text".utf8))
        _ = try await ledger.log.append([packet.event(source)])
        try await ledger.catchUp()
        try FileManager.default.removeItem(atPath: path + "/views/messages")
        if flushes { try await ledger.flush() } else { try await ledger.catchUp() }
        #expect(try ledger.messages().count == 1)
        #expect(FileManager.default.fileExists(atPath: path + "/views/messages/current"))
        try await ledger.close()
    }

    enum Making: CaseIterable { case keys, rebuild }

    @Test(arguments: Making.allCases) func `views whose files go while they are made are there afterwards`(_ making: Making)
        async throws
    {
        let folder = try TemporaryFolder()
        for delay in 0..<40 {
            let path = folder.path + "/ledger-\(delay)"
            let ledger = try await Ledger.create(at: path)
            let source = try await ledger.log.source(named: "test")
            let packets = (1..<301).map { Packet(from: 1_001, id: $0, rxTime: 1_780_000_000 + $0, payload: Array("text".utf8)) }
            _ = try await ledger.log.append(packets.map { $0.event(source) })
            try await ledger.catchUp()
            let work = Task {
                switch making {
                case .keys:
                    try await ledger.keys.set(
                        Keyring.standard.adding(try ChannelKey(name: "Harbour", psk: Array(repeating: 7, count: 32))))
                case .rebuild: try await ledger.maintenance.rebuild()
                }
            }
            try await Task.sleep(for: .microseconds(delay * 500))
            let views = path + "/views"
            for view in try FileManager.default.contentsOfDirectory(atPath: views) {
                try? FileManager.default.removeItem(atPath: views + "/" + view)  // it may be written just now, as for `rm`
            }
            _ = await work.result  // it may have met a folder that was half removed
            try await ledger.catchUp()
            #expect(try ledger.messages().count == 300, "after \(delay * 500) µs")
            #expect(try FileManager.default.contentsOfDirectory(atPath: views).count == Ledger.viewNames.count)
            try await ledger.maintenance.rebuild()
            try await ledger.close()
        }
    }
}
