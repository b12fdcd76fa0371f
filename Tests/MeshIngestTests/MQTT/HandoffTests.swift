import Foundation
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// How much may wait between the thread that reads a broker and the task that appends.
struct HandoffTests {
    @Test func `what waits and what is under way is within the bytes that are allowed`() async {
        let handoff = Handoff<Int>(limit: 1_000, byteLimit: 100)
        let held = Mutex((now: 0, most: 0))
        let thread = Thread {
            for size in (0..<300).map({ 1 + $0 * 7 % 60 }) {
                guard handoff.offer(size, byteCount: size) else { return }
                held.withLock {
                    $0.now += size
                    $0.most = max($0.most, $0.now)
                }
            }
            handoff.close()
        }
        thread.start()
        var sum = 0
        while let taken = await handoff.takeAll() {
            try? await Task.sleep(for: .microseconds(100))  // nothing cancels it
            let size = taken.reduce(0, +)
            sum += size
            held.withLock { $0.now -= size }
            handoff.settle()
        }
        #expect(sum == (0..<300).reduce(0) { $0 + 1 + $1 * 7 % 60 })
        #expect(held.withLock { $0.most } <= 100)
    }

    @Test func `an element above the limit goes through alone, and a refusal ends the wait`() async throws {
        let handoff = Handoff<Int>(limit: 10, byteLimit: 100)
        #expect(handoff.offer(1, byteCount: 1_000))
        let answer = Mutex<Bool?>(nil)
        let thread = Thread {
            let isTaken = handoff.offer(2, byteCount: 1)
            answer.withLock { $0 = isTaken }
        }
        thread.start()
        #expect(await handoff.takeAll() == [1])
        handoff.refuse()
        try await eventually { answer.withLock { $0 } != nil }
        #expect(answer.withLock { $0 } == false)
    }
}
