import LMDB
import ProtobufWire
import TestKit
import Testing

@testable import Projections

/// What versions before 0.2 remembered of packets, as baselines still hold it.
struct FormerRecords {
    private func record(_ words: UInt64...) -> StageState.Record {
        FormerStageStateRecord(sequence: 9) { words[$0] }.asRecord
    }

    @Test func `a packet that was remembered by its identifier keeps it, and where its first reception is`() {
        let upper: UInt64 = 0x1234_5679_0000_0000
        for (back, kept) in [
            (0, 0), (1, 1), (77, 77), (0xfff_ffff, 0xfff_ffff), (0x1000_0000, 0xfff_ffff), (0x7fff_ffff, 0xfff_ffff),
        ]
            as [(UInt64, UInt64)]
        {
            for flag in [0, 1] as [UInt64] {
                let record = record(5, upper | back << 1 | flag)
                #expect(record.sequence == 9 && record.words.first == 5, "\(back)")
                #expect(record.words.second == upper | kept << 4 | flag, "\(back)")
            }
        }
    }

    @Test func `a store that has them gives each as a record of two words`() throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        let run = [9, 5, 0x12 << 32 | 7, 11, 6, 0].flatMap { (number: UInt64) in bigEndian(number) }
        try store.environment.write { (transaction) throws(StorageError) in
            let table = try store.table(ViewStore.Name.formerRecords)
            try transaction.put(table, key: bigEndian(UInt64(9)).rawSpan, value: run.rawSpan)
        }
        let found = try store.stageState().records
        #expect(found.map(\.sequence) == [9, 11] && found.map(\.words.first) == [5, 6])
        #expect(found.map(\.words.second) == [0x12 << 32 | 3 << 4 | 1, 0])
        store.close()
    }
}
