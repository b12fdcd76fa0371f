import Synchronization
import TestKit
import Testing

@testable import EventLog

/// What an append may hold, to the byte, in each of its forms.
struct AppendLimits {
    private static func code(_ body: () async throws -> Void) async throws -> EventLogError.Code? {
        do {
            try await body()
            return nil
        } catch let error as EventLogError {
            return error.code
        }
    }

    private static func event(_ bytes: Int) -> NewEvent {
        NewEvent([UInt8](repeating: 7, count: bytes), encoding: .note, source: .log)
    }

    @Test func `names of cursors and sources have their lengths in bytes, and one byte more is refused`() async throws {
        let log = try EventLog.temporary()
        for (count, code) in [(0, .tooLarge), (1, nil), (500, nil), (501, .tooLarge)] as [(Int, EventLogError.Code?)] {
            let cursor = SourceCursor(key: String(repeating: "k", count: count), value: [UInt8(count % 256)])
            #expect(try await Self.code { try await log.append([], cursor: cursor) } == code, "\(count)")
            #expect(try await Self.code { try log.appendBlocking([], cursor: cursor) } == code, "\(count)")
            #expect(try await Self.code { try log.submit([], cursor: cursor) } == code, "\(count)")
            try await log.flush()
            #expect(try log.cursor(cursor.key) == (code == nil ? cursor.value : nil), "\(count)")
        }
        for (count, code) in [(4096, nil), (4097, .tooLarge)] as [(Int, EventLogError.Code?)] {
            #expect(try await Self.code { _ = try await log.source(named: String(repeating: "a", count: count)) } == code)
            #expect(try await Self.code { _ = try await log.reserveSource(named: String(repeating: "b", count: count)) } == code)
        }
        await log.close()
    }

    @Test func `an append has up to 64 MB with what each event costs, and an event up to 16 MB, in every form`() async throws {
        let log = try EventLog.temporary()
        let most = NewEvent.largestPayload
        #expect(most == 16 << 20 && EventLog.largestAppend == 64 << 20)
        let fitting = [Self.event(most), Self.event(most), Self.event(most), Self.event(most - 4 * RecordHeader.size)]
        var larger = fitting
        larger[3].payload.append(7)
        var batch = EventBatch()
        for event in larger { batch.append(event) }
        #expect(try await Self.code { try await log.append(larger) } == .tooLarge)
        #expect(try await Self.code { try await log.append(batch) } == .tooLarge)
        #expect(try await Self.code { try log.appendBlocking(larger) } == .tooLarge)
        #expect(try await Self.code { try await log.append([Self.event(most + 1)]) } == .tooLarge)
        #expect(log.head == .zero)
        batch.removeAll()
        for event in fitting { batch.append(event) }
        #expect(try await Self.code { try await log.append(batch) } == nil)
        #expect(log.head == EventSequence(4))
        #expect(try await Self.code { try log.appendBlocking(fitting) } == nil)
        #expect(log.head == EventSequence(8))
        await log.close()
    }

    @Test func `no event above 16 MB is taken in any form, wherever it stands among smaller ones`() async throws {
        let log = try EventLog.temporary()
        let (small, large) = (Self.event(1), Self.event(NewEvent.largestPayload + 1))
        for place in 0...2 {
            var events = [small, small]
            events.insert(large, at: place)
            var (whole, parts) = (EventBatch(), EventBatch())
            for event in events {
                whole.append(event)
                parts.append(event.payload.span.rawBytes, encoding: .note, source: .log)
            }
            let forms: [() async throws -> Void] = [
                { try await log.append(events) }, { try log.appendBlocking(events) }, { try log.submit(events) },
                { try await log.append(whole) }, { try await log.append(parts) }, { try log.appendBlocking(whole) },
            ]
            for (form, append) in forms.enumerated() {
                #expect(try await Self.code(append) == .tooLarge, "form \(form), place \(place)")
            }
            whole.removeAll()
            for event in [small, Self.event(NewEvent.largestPayload), small] { whole.append(event) }
            #expect(try await Self.code { try await log.append(whole) } == nil)
        }
        #expect(try await Self.code { try await log.append(large) } == .tooLarge)
        #expect(log.head == EventSequence(9))
        await log.close()
    }

    @Test func `a request knows how many events and bytes it brings`() throws {
        func request(_ work: AppendRequest.Work) -> AppendRequest {
            AppendRequest(work: work, cursor: nil, token: nil, arrival: 5, completion: .callback { _ in })
        }
        let events = [Self.event(3), Self.event(0), Self.event(10)]
        var batch = EventBatch()
        for event in events { batch.append(event) }
        let hash = MerkleHasher.emptyRoot
        let nodes = [KeptNode(level: 1, place: 0, hash: hash), KeptNode(level: 0, place: 2, hash: hash)]
        let works: [(AppendRequest.Work, count: Int, size: Int, changes: Bool)] = [
            (.one(events[0]), 1, 35, true), (.many(events), 3, 109, true), (.many([]), 0, 0, false),
            (.batch(batch), 3, 109, true),
            (.batch(EventBatch()), 0, 0, false), (.source("abc"), 0, 3, false),
            (.cut(LogCut(event: events[0], last: 256, checksum: 1, nodes: nodes)), 1, 35 + 2 * 64, true),
        ]
        for (work, count, size, changes) in works {
            #expect(request(work).count == count && request(work).size == size && work.isMutation == changes, "\(work)")
        }
        // The token is that of the first event, under the sequence that it would have got.
        let token = request(.one(events[0])).token(first: 8)
        #expect(token != nil && token?.first == 8)
        #expect(request(.many(events)).token(first: 8) == token && request(.batch(batch)).token(first: 8) == token)
        #expect(request(.one(events[0])).token(first: 9)?.checksum != token?.checksum)
        #expect(request(.source("abc")).token(first: 8) == nil && request(.many([])).token(first: 8) == nil)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a lane is stored in groups that follow each other and end once they are large`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var lane = AppendBatch()
        // Sizes of the entries, nil for a request that holds this many bytes.
        var sizes: [(bytes: Int, isRequest: Bool)] = []
        let megabyte = [UInt8](repeating: 7, count: 1 << 20)
        let header = RecordHeader(encoding: .note, source: .log, reception: .live, isMasked: false)
        let exact = NewEvent([UInt8](repeating: 7, count: LaneGroup.size - RecordHeader.size), encoding: .note, source: .log)
        for place in 0..<60 {
            if Bool.random(using: &generator) {
                let events = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                    NewEvent(megabyte, encoding: .note, source: .log)
                }
                let work: AppendRequest.Work = place == 0 || place == 30 ? .one(exact) : .many(events)
                lane.add(AppendRequest(work: work, cursor: nil, token: nil, arrival: 0, completion: .callback { _ in }))
                sizes.append((lane.requests[lane.requests.count - 1].size, true))
            } else {
                let count = Int.random(in: 0...4096, using: &generator)
                lane.bytes += megabyte.prefix(count)
                unsafe lane.entries.append(AppendBatch.Entry(header: header, length: Int32(count), waiter: nil))
                sizes.append((count + RecordHeader.size, false))
            }
        }
        var group = LaneGroup()
        var (entry, request, byte) = (0, 0, 0)
        while entry < sizes.count {
            group = group.next(in: lane)
            #expect(
                group.entries.lowerBound == entry && group.requests.lowerBound == request && group.bytesStart == byte,
                "seed \(seed)")
            let singles = group.singles(of: lane)
            var total = 0
            for single in singles {
                #expect(total < LaneGroup.size, "seed \(seed): entry \(entry) is beyond the group's size")
                total += sizes[entry].bytes
                let bytes = sizes[entry].isRequest ? 0 : sizes[entry].bytes - RecordHeader.size
                let requests = sizes[entry].isRequest ? 1 : 0
                #expect(single.entries == entry..<entry + 1 && single.requests == request..<request + requests, "seed \(seed)")
                #expect(single.bytesStart == byte && single.bytesEnd == byte + bytes, "seed \(seed)")
                (entry, request, byte) = (entry + 1, request + requests, byte + bytes)
            }
            #expect(
                group.entries.upperBound == entry && group.requests.upperBound == request && group.bytesEnd == byte,
                "seed \(seed)")
            #expect(total >= LaneGroup.size || entry == sizes.count, "seed \(seed)")
        }
    }

    @Test func `bytes that nobody waits for queue up to the limit exactly, and are counted from 0 again once they are taken`()
        throws
    {
        let queue = AppendQueue(limit: 100, sharesClock: false) { Timestamp(microseconds: 0) }
        func push(_ bytes: Int, isAttended: Bool = false) -> AppendQueue.Refusal? {
            queue.push(
                AppendRequest(work: .one(Self.event(bytes)), cursor: nil, token: nil, arrival: 0, completion: .callback { _ in }),
                isAttended: isAttended)
        }
        #expect(push(20) == nil, "52 with its header")
        #expect(push(17) == .full, "49 more")
        #expect(push(16) == nil, "48 more")
        #expect(push(1_000, isAttended: true) == nil)
        #expect(push(0) == .full && queue.waitingCount == 3)
        #expect(queue.takeNow()?.entries.count == 3 && queue.waitingCount == 0)
        #expect(push(1_000) == nil, "one of any size is taken")
        #expect(push(0) == .full)
        queue.nudge(Timestamp(microseconds: 0))
        #expect(queue.waitingCount == 2, "the log's own requests are never refused")
        // A request of no bytes counts as one.
        let empty = AppendQueue(limit: 1, sharesClock: false) { Timestamp(microseconds: 0) }
        let nothing = AppendRequest(work: .many([]), cursor: nil, token: nil, arrival: 0, completion: .callback { _ in })
        #expect(empty.push(nothing, isAttended: false) == nil)
        #expect(empty.push(nothing, isAttended: false) == .full)
        empty.close()
        #expect(empty.push(nothing, isAttended: true) == .closed)
    }

    @Test func `a lane that is filled again holds nothing of what it held, and its callers get no failure of others`() {
        let queue = AppendQueue(limit: 100, sharesClock: false) { Timestamp(microseconds: 0) }
        let request = AppendRequest(work: .many([]), cursor: nil, token: nil, arrival: 0, completion: .callback { _ in })
        for size in [1, 1 << 16] {
            var lane = AppendBatch()
            lane.bytes = [UInt8](repeating: 7, count: size << 6)
            for _ in 0..<size { lane.add(request) }
            lane.outcomes = [.stored(first: 1)]
            lane.failures = [0: EventLogError(.diskFull, path: "x")]
            queue.recycle(lane)
            #expect(queue.push(request, isAttended: true) == nil)
            // The first taken is the one that was being filled, the next the one that was recycled.
            #expect(queue.takeNow()?.entries.count == 1)
            #expect(queue.push(request, isAttended: true) == nil)
            let again = queue.takeNow()
            #expect(again?.entries.count == 1 && again?.requests.count == 1 && again?.bytes.isEmpty == true)
            #expect(again?.outcomes.isEmpty == true && again?.failures.isEmpty == true)
        }
    }

    @Test func `a queue is idle from when its writer finds nothing to do until something comes, and wakes the writer once`() {
        let queue = AppendQueue(limit: 100, sharesClock: false) { Timestamp(microseconds: 0) }
        let wakes = Atomic<Int>(0)
        func push() -> AppendQueue.Refusal? {
            queue.push(
                AppendRequest(work: .one(Self.event(1)), cursor: nil, token: nil, arrival: 0, completion: .callback { _ in }),
                isAttended: true)
        }
        #expect(!queue.isIdle && !queue.isClosed, "its writer has not begun")
        #expect(queue.rest() == .asleep && queue.isIdle)
        #expect(push() == nil && !queue.isIdle)
        #expect(queue.take(expected: 0, lingerNanoseconds: 0)?.entries.count == 1)
        #expect(queue.takeNow() == nil && !queue.isIdle)
        queue.serveFromPool(Schedule { wakes.add(1, ordering: .relaxed) })
        #expect(queue.isIdle)
        for _ in 0..<3 { #expect(push() == nil) }
        #expect(wakes.load(ordering: .relaxed) == 1 && !queue.isIdle)
        #expect(queue.rest() == .more && !queue.isIdle)
        #expect(queue.takeNow()?.entries.count == 3 && queue.rest() == .asleep)
        queue.close()
        #expect(wakes.load(ordering: .relaxed) == 2 && !queue.isIdle && queue.isClosed)
        queue.close()
        #expect(wakes.load(ordering: .relaxed) == 2 && queue.rest() == .ended)
        queue.serveFromPool(nil)
        #expect(!queue.isIdle && queue.take(expected: 0, lingerNanoseconds: 0) == nil)
    }

    @Test func `requests that wait when a queue is closed are still served, and none after them`() {
        let queue = AppendQueue(limit: 100, sharesClock: false) { Timestamp(microseconds: 0) }
        let request = AppendRequest(work: .many([]), cursor: nil, token: nil, arrival: 0, completion: .callback { _ in })
        #expect(queue.push(request, isAttended: true) == nil)
        queue.close()
        #expect(queue.push(request, isAttended: true) == .closed)
        #expect(queue.rest() == .more && queue.take(expected: 0, lingerNanoseconds: 0)?.entries.count == 1)
        #expect(queue.rest() == .ended)
    }

    @Test func `what only the log itself may write is refused in every form, wherever it stands among others`() async throws {
        let log = try EventLog.temporary()
        let note = Self.event(1)
        for encoding in [.erasure, .retention, .clockJump] as [PayloadEncoding] {
            for place in 0...2 {
                var events = [note, note]
                events.insert(NewEvent([7], encoding: encoding, source: .log), at: place)
                var (whole, parts) = (EventBatch(), EventBatch())
                for event in events {
                    whole.append(event)
                    parts.append(event.payload.span.rawBytes, encoding: event.encoding, source: event.source)
                }
                let forms: [() async throws -> Void] = [
                    { try await log.append(events) }, { try log.appendBlocking(events) }, { try log.submit(events) },
                    { try await log.append(whole) }, { try await log.append(parts) }, { try log.appendBlocking(parts) },
                    { try await log.append(events[place]) },
                ]
                for (form, append) in forms.enumerated() {
                    #expect(try await Self.code(append) == .reserved, "form \(form), place \(place)")
                }
                whole.removeAll()
                whole.append(note)
                #expect(try await Self.code { try await log.append(whole) } == nil)
            }
        }
        #expect(log.head == EventSequence(9))
        await log.close()
    }

    @Test(arguments: [true, false]) func `single events that wait together have one arrival only where they share the clock`(
        sharesClock: Bool
    ) async throws {
        let readings = Atomic<Int64>(0)
        let queue = AppendQueue(limit: 100, sharesClock: sharesClock) {
            Timestamp(microseconds: readings.add(1, ordering: .relaxed).newValue)
        }
        for wanted in sharesClock ? [[1, 1, 1], [2, 2, 2]] : [[1, 2, 3], [4, 5, 6]] {
            var callers: [Task<UInt64, any Error>] = []
            for count in 1...3 {
                callers.append(
                    Task {
                        try await unsafe withUnsafeThrowingContinuation { (waiter: UnsafeContinuation<UInt64, any Error>) in
                            _ = unsafe queue.push(RecordHeader(Self.event(1)), [7], waiter)
                        }
                    })
                while queue.waitingCount < count { await Task.yield() }
            }
            var lane = try #require(queue.takeNow())
            #expect(lane.entries.map(\.header.arrival) == wanted.map { Int64($0) })
            for place in 0..<3 { lane.entries[place].first = UInt64(place + 1) }
            lane.complete(0..<3, firstRequest: 0)
            for caller in callers { _ = try? await caller.value }  // answered just now
        }
    }
}
