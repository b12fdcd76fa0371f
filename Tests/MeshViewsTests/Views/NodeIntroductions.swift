import Meshtastic
import Testing

@testable import MeshViews

/// What a node's row takes of a report about the node.
struct NodeIntroductions {
    private func user(_ name: String = "", hardware: UInt32 = 0, key: UInt8? = nil) -> User {
        var user = User()
        (user.longName, user.shortName, user.hardwareModel) = (name, String(name.prefix(1)), hardware)
        user.publicKey = key.map { [UInt8](repeating: $0, count: 32) } ?? []
        return user
    }

    @Test func `control characters and what stands for broken ones make a name unclean`() {
        for (first, last, isClean) in [
            (0, 0x1f, false), (0x20, 0x7e, true), (0x7f, 0x9f, false), (0xa0, 0xff, true), (0xfffc, 0xfffc, true),
            (0xfffd, 0xfffd, false),
        ] as [(UInt32, UInt32, Bool)] {
            for scalar in (first...last).compactMap(Unicode.Scalar.init) {
                #expect("A\(Character(scalar))".isCleanName == isClean, "\(scalar.value)")
            }
        }
    }

    @Test func `a report tells what it brought where the row has all of that now`() {
        var row = NodeRow(number: 1)
        #expect(row.introduce(user("Base"), heard: 5) == [.longName, .shortName, .role])
        #expect(row.introduce(user(hardware: 9), heard: 6) == .hardware)
        #expect(row.introduce(user("Base", hardware: 9), heard: 6) == [.longName, .shortName, .hardware, .role])
        #expect(row.introduce(user(hardware: 8), heard: 5) == nil && row.hardwareModel == 9)
        #expect(row.introduce(user("Hill"), heard: 5) == nil && row.longName == "Base")
        #expect(row.introduce(user(), heard: 7) == [])
    }

    @Test func `the key that was announced first stays, and one of an unknown time is later than all others`() {
        var row = NodeRow(number: 1)
        for (key, time, kept) in [(1, 0, 1), (2, 7, 2), (3, 8, 2), (4, 6, 4), (5, 0, 4)] as [(UInt8, UInt32, UInt8)] {
            _ = row.introduce(user(key: key), heard: time)
            #expect(row.publicKey == [UInt8](repeating: kept, count: 32), "\(key)")
            #expect(row.hasKeyConflict == (key > 1), "\(key)")
        }
    }
}
