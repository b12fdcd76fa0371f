import MeshIngest
import Testing

@testable import MeshCommands

struct LastingTroubleTests {
    @Test func `trouble that lasts is logged once, then once an hour, without its attempts`() {
        var trouble = LastingTrouble()
        let begin = ContinuousClock.now
        func line(_ state: SourceState, _ text: String, after minutes: Int) -> String? {
            trouble.line(state, text, at: begin + .seconds(60 * minutes))
        }
        let away = "the broker cannot be reached"
        #expect(line(.connecting, "connecting to mqtt://h", after: 0) != nil)
        #expect(line(.waiting, "\(away); trying again in 1.0 s", after: 0) != nil)
        for minute in 1..<60 {
            #expect(line(.connecting, "connecting to mqtt://h", after: minute) == nil)
            #expect(line(.waiting, "\(away); trying again in \(minute).0 s", after: minute) == nil)
        }
        #expect(
            line(.waiting, "\(away); trying again in 60.0 s", after: 60)
                == "\(away); trying again in 60.0 s (59 attempts failed since this was logged last)")
        #expect(line(.waiting, "\(away); trying again in 60.0 s", after: 61) == nil)
        // What else happens meanwhile, and another trouble.
        #expect(line(.connecting, "a client from 10.0.0.9 was refused", after: 61) != nil)
        #expect(line(.waiting, "the ledger has no space; waiting until there is space", after: 61) != nil)
        #expect(line(.waiting, "the host h is not known; trying again in 60.0 s", after: 62) != nil)
        #expect(line(.live, "listening to msh/#", after: 63) != nil)
        #expect(line(.connecting, "connecting to mqtt://h", after: 64) != nil)
        #expect(line(.waiting, "\(away); trying again in 1.0 s", after: 64) != nil)
    }
}
