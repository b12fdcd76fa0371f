import Projections
import Testing

@testable import MeshViews

/// The keys that nodes announced, as a view's state holds them.
struct StoredAnnouncements {
    private func entry(_ value: [UInt8]) -> StageState.Entry {
        StageState.Entry(sequence: 1, key: [AnnouncedKeys.entryKind, 0, 0, 3, 233], value: value)
    }

    @Test func `a key is read back with its time, or without one as earlier versions stored it`() {
        let key = [UInt8](1...32)
        for (more, earlier) in [([], 5), ([0, 0, 0, 9], 8)] as [([UInt8], UInt32)] {
            var keys = AnnouncedKeys()
            let known = keys.restore(entry(key + more))
            #expect(known?.node == 1_001 && known?.key == key)
            let same = keys.learn(key, of: 1_001, heard: 10, sequence: 2)
            #expect((same == nil) == !more.isEmpty)
            let other = keys.learn([UInt8](2...33), of: 1_001, heard: earlier, sequence: 3)
            #expect(other != nil)
        }
        var keys = AnnouncedKeys()
        let short = keys.restore(entry([UInt8](1...31)))
        #expect(short == nil)
    }
}
