import Testing

@testable import EventLog

@Suite struct RisingNumbers {
    @Test func `who waits is woken when the number is past the known one, is closed, or the task is cancelled`() async {
        let number = RisingNumber(5)
        await number.wait(past: 4)  // it is already
        let waiter = Task { await number.wait(past: 5) }
        number.raise()
        await waiter.value
        #expect(number.value == 6)

        let cancelled = Task { await number.wait(past: 100) }
        cancelled.cancel()
        await cancelled.value

        let last = Task { await number.wait(past: 100) }
        number.close()
        await last.value
        await number.wait(past: 100)
        #expect(number.isClosed && number.value == 6)
    }

    @Test func `a rise below what is waited for wakes and is looked at by the waiter`() async {
        let number = RisingNumber()
        let all = (0..<50).map { wanted in
            Task {
                var known = number.value
                while known <= wanted {
                    await number.wait(past: known)
                    known = number.value
                }
                return known
            }
        }
        for _ in 0..<50 { number.raise() }
        for (wanted, task) in all.enumerated() { #expect(await task.value > UInt64(wanted)) }
        #expect(number.value == 50)
    }
}
