import Synchronization

/// Tools that only one thread can use at a time, one for each of a few threads.
///
/// Synchronization: a mutex for each.
package final class Workers<Tool>: Sendable {
    private final class Seat: Sendable {
        let tool: Mutex<Tool>

        init(_ tool: consuming sending Tool) { self.tool = Mutex(tool) }
    }

    private let seats: [Seat]

    package init<Failure: Error>(count: Int, _ make: () throws(Failure) -> sending Tool) throws(Failure) {
        var seats: [Seat] = []
        for _ in 0..<count { seats.append(Seat(try make())) }
        self.seats = seats
    }

    /// Uses one that no other thread is using, or waits for one.
    package func with<Result: Sendable>(_ body: (Tool) throws -> Result) throws -> Result {
        for seat in seats {
            if let result = try seat.tool.withLockIfAvailable({ try body($0) }) { return result }
        }
        return try seats[0].tool.withLock { try body($0) }
    }
}
