import Testing

@testable import EventLog
@testable import MeshCommands

struct SealReports {
    private func statistics(sealed: UInt64, hot: UInt64, sealedBytes: Int, hotBytes: Int) -> SealingStatistics {
        var statistics = SealingStatistics()
        (statistics.sealedEvents, statistics.hotEvents) = (sealed, hot)
        (statistics.sealedBytes, statistics.hotBytes) = (sealedBytes, hotBytes)
        return statistics
    }

    @Test func `sealing says what it did, also where retention dropped events meanwhile`() {
        let before = statistics(sealed: 1_000, hot: 500, sealedBytes: 8_192, hotBytes: 40_960)
        let sealed = statistics(sealed: 1_400, hot: 100, sealedBytes: 12_288, hotBytes: 8_192)
        #expect(
            SealCommand.report(before, sealed) == [
                "400 events sealed; 1,400 are sealed now, 100 are not",
                "they took 32,768 bytes and take 4,096 now; 28,672 bytes are free for new events",
            ])
        let dropped = statistics(sealed: 300, hot: 100, sealedBytes: 4_096, hotBytes: 8_192)
        #expect(SealCommand.report(before, dropped) == ["0 events sealed; 300 are sealed now, 100 are not"])
        let replaced = statistics(sealed: 1_200, hot: 900, sealedBytes: 4_096, hotBytes: 81_920)
        #expect(SealCommand.report(before, replaced) == ["200 events sealed; 1,200 are sealed now, 900 are not"])
        let one = statistics(sealed: 1_001, hot: 1, sealedBytes: 8_192, hotBytes: 40_959)
        #expect(
            SealCommand.report(before, one) == [
                "1 event sealed; 1,001 are sealed now, 1 is not",
                "they took 1 byte and take 0 now; 1 byte is free for new events",
            ])
    }
}
