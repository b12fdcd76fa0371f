public import Meshtastic

/// What a run of the fuzzer found.
public struct FuzzReport: Sendable {
    public struct Count: Sendable {
        public var inputs = 0
        /// Inputs whose packet was opened, so that its payload went to the decoder of its port.
        public var reached = 0
    }

    /// A property that did not hold.
    public struct Finding: Sendable {
        /// The input's number: rerun it with the same seed.
        public var index: UInt64
        public var what: String
    }

    public var total = Count()
    public var byForm: [CaptureForm: Count] = [:]
    public var byPort: [UInt32: Count] = [:]
    /// At most a hundred.
    public var findings: [Finding] = []

    public init() {}

    /// How many of all inputs reached a payload decoder, 0...1.
    public var reachedShare: Double { total.inputs == 0 ? 0 : Double(total.reached) / Double(total.inputs) }

    mutating func count(_ input: FuzzInput, hasReached: Bool) {
        func add(_ count: inout Count) {
            count.inputs += 1
            if hasReached { count.reached += 1 }
        }
        add(&total)
        add(&byForm[input.form, default: Count()])
        add(&byPort[input.port, default: Count()])
    }

    mutating func add(_ what: String, at index: UInt64) {
        if findings.count < 100 { findings.append(Finding(index: index, what: what)) }
    }

    public mutating func merge(_ other: FuzzReport) {
        func add(_ more: Count, to count: inout Count) {
            count.inputs += more.inputs
            count.reached += more.reached
        }
        add(other.total, to: &total)
        for (form, count) in other.byForm { add(count, to: &byForm[form, default: Count()]) }
        for (port, count) in other.byPort { add(count, to: &byPort[port, default: Count()]) }
        findings = Array((findings + other.findings).prefix(100))
    }
}
