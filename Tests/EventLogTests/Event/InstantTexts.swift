import EventLog
import Foundation
import TestKit
import Testing

struct InstantTexts {
    @Test func `instants are written and read back exactly`() {
        var generator = SeededGenerator(seed: 44)
        for _ in 0..<5_000 {
            let microseconds = Int64.random(in: -62_000_000_000_000_000...250_000_000_000_000_000, using: &generator)
            #expect(ISO8601Parser.parse(ISO8601.text(microseconds: microseconds), needsZone: true)?.microseconds == microseconds)
        }
    }

    @Test func `instants are those of Foundation`() throws {
        for seconds in stride(from: -2_000_000_000, through: 4_000_000_000, by: 7_654_321) {
            let text = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
            #expect(ISO8601Parser.parse(text, needsZone: true)?.microseconds == Int64(seconds) * 1_000_000)
        }
    }

    @Test(arguments: [
        "", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "26-01-01T00:00:00Z",
        "2026-02-31T10:00:00Z", "2026-04-31T10:00:00Z", "2026-01-01T00:00:00+01:",
    ])
    func `what is no instant is refused`(_ text: String) {
        #expect(ISO8601Parser.parse(text, needsZone: true) == nil)
    }
}
