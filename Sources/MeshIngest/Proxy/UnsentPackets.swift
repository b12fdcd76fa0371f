/// What is saved about the packets of clients that the radio has not accepted yet.
///
/// It is saved each second, so it may miss the newest ones when the process is killed: these are found in the log, where
/// each packet is stored before the radio gets it.
struct UnsentPackets: Equatable {
    /// The log is looked through from this event on; nil if nothing was ever saved.
    var next: UInt64?
    /// The events of earlier packets that wait.
    var events: [UInt64]

    init(from next: UInt64, _ events: [UInt64]) { (self.next, self.events) = (next, events) }

    /// Versions that saved the events alone meant the same, since the first of them has to be looked at, too.
    init(_ bytes: [UInt8]) {
        let numbers = EventNumbers.events(bytes)
        (next, events) = (numbers.first, Array(numbers.dropFirst()))
    }

    var bytes: [UInt8] { EventNumbers.bytes((next.map { [$0] } ?? []) + events) }
}
