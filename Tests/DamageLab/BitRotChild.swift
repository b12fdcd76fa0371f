import EventLog
import Foundation
import Glibc
import TestKit

/// Reads one image after the other, until one crashes it: a copy of a `BitRotServer`. The images follow each other in one file, of which a bit is flipped and flipped back.
///
/// What can notice the changed bit is read again: all, through a log that is reopened, where the bit is in what leads to rows or in the last events,
/// which opening reads; else the events of the page that it is in, through a log that stays open. Prints `wrong …` where an image is read wrongly,
/// and something now and then, so that a hang is noticed; what it found so far, and where it is, stands in a file.
struct BitRotChild {
    /// Bits that nobody can notice, and salvages of images that only some events can notice, are looked at one in so many.
    static let stride = 61

    private let path: String
    private let bits: BitChoice
    private let range: Range<Int>
    private let truth: Truth
    private let salvages: Int
    private let progress: BitProgress
    private let file: Int32

    /// - Parameter first: where an earlier reader ended.
    init(_ options: Options, _ truth: Truth, from first: Int) throws {
        path = try options.text("work")
        bits = try BitChoice(options)
        range = try first..<options.number("end", 0)
        salvages = try options.number("salvages", 1)
        self.truth = truth
        progress = try BitProgress(options.text("progress"))
        file = unsafe Glibc.open(path + "/log/1/data.mdb", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw Failure("\(path) cannot be opened") }
    }

    func run() async throws {
        var log = try? open()  // before the first bit is flipped
        var counts = BitCounts()
        for index in range {
            if index % 256 == 0 || index == range.lowerBound {
                say("tick")
                alarm(UInt32(60 * Child.patienceFactor))  // who hangs is ended by its signal
            }
            let bit = bits.bit(index)
            counts.next = UInt64(index)
            progress.write(counts)
            Self.flip(bit, file)
            if let wrong = try await look(bit, index, &log, &counts) { say("wrong bit \(bit): \(wrong)") }
            Self.flip(bit, file)
            counts.images += 1
        }
        counts.next = UInt64(range.upperBound)
        progress.write(counts)
        await log?.close()
    }

    private func open() throws(EventLogError) -> EventLog {
        // Without a cache, so that every look is at the file.
        try EventLog.open(at: path, options: EventLogOptions(access: .readOnly, blockCacheLimit: 0))
    }

    private func look(_ bit: Int, _ index: Int, _ log: inout EventLog?, _ counts: inout BitCounts) async throws -> String? {
        let reach = truth.reach(bit)
        if isSalvaged(reach, index) {
            counts.salvages += 1
            if let wrong = try truth.salvage(of: path, bit: bit) { return wrong }
        }
        let events: ClosedRange<UInt64>
        switch reach {
        case .nothing where index % Self.stride != 0:
            counts.whole += 1
            return nil
        case .nothing, .everything: events = 1...UInt64(truth.events.count)
        case .events(let range): events = range
        }
        let isOpenedAnew = truth.isRead(atOpen: events)
        if isOpenedAnew {
            await log?.close()
            log = nil
        }
        do throws(EventLogError) {
            if log == nil { log = try open() }
        } catch {
            counts.refused += 1
            return nil
        }
        guard let current = log else { return nil }
        let (wrong, isWhole) = read(current, events, bit)
        if isOpenedAnew {
            await current.close()
            log = nil
        }
        if isWhole { counts.whole += 1 } else { counts.damaged += 1 }
        if isWhole && truth.isVital[bit / 8] { return "it is of events \(truth.touched(bit)), and is not found by a check" }
        return wrong
    }

    private func isSalvaged(_ reach: Truth.Reach, _ index: Int) -> Bool {
        if case .everything = reach { return index % salvages == 0 }
        return index % Self.stride == 0
    }

    /// Asks what other tables than those of events and blocks know: damage may change the answer, as the check tells, but must not end who asks.
    private func ask(_ log: EventLog, _ all: UInt64) {
        let middle = EventSequence(all / 2)
        let time = truth.events[Int(all / 2)].header.arrivalTime
        let questions: [() throws -> Void] = [
            { _ = try log.lastSequence(arrivedBy: time) }, { _ = try log.firstSequence(arrivedFrom: time) },
            { _ = try log.lastSequence(arrivedBy: Timestamp(microseconds: .max)) }, { _ = try log.origin(of: middle) },
            { _ = try log.sources() }, { _ = try log.cursor("file") }, { _ = try log.consumers() },
            { _ = try log.sealingStatistics() }, { _ = try log.size() },
            { _ = try log.retentionPlan(olderThan: time, largerThan: 4_096) },
            { _ = try log.root(size: EventSequence(all)) }, { _ = try log.proof(of: middle) },
        ]
        for question in questions { try? question() }  // what each says is not looked at
    }

    /// Reads the events, those before and after them, and checks them; all of the log, where they are all.
    private func read(_ log: EventLog, _ events: ClosedRange<UInt64>, _ bit: Int) -> (wrong: String?, isWhole: Bool) {
        let all = UInt64(truth.events.count)
        let (first, last) = (max(events.lowerBound, 2) - 1, min(events.upperBound + 1, all))
        var wrong: String?
        var isWhole = true
        var seen: UInt64 = 0
        do {
            try log.withEvents(from: EventSequence(first)) { header, payload in
                seen += 1
                let sequence = header.sequence.rawValue
                guard sequence >= 1, sequence <= all else {
                    wrong = "event \(sequence) is invented"
                    return true
                }
                let event = truth.events[Int(sequence) - 1]
                // A damaged page may lead to an event of another place: it is itself, and the check below finds the damage.
                if header != event.header || !isSame(payload, event.payload) {
                    wrong = "event \(sequence) is read with other bytes"
                }
                return sequence != last && seen <= last - first + 2
            }
            if seen != last - first + 1 { isWhole = false }
            for sequence in [truth.touched(bit).lowerBound, events.lowerBound, events.upperBound] where sequence > 0 {
                if let event = try log.event(EventSequence(sequence)), event != truth.events[Int(sequence) - 1] {
                    wrong = "event \(sequence) is found with other bytes"
                }
            }
        } catch {
            isWhole = false
        }
        do throws(EventLogError) {
            let isAll = events.lowerBound == 1 && events.upperBound == all
            if isAll { ask(log, all) }
            let result = isAll ? try log.verify() : try log.verify(around: EventSequence(first)...EventSequence(last))
            if !result.isIntact { isWhole = false }
        } catch {
            isWhole = false
        }
        return (wrong, isWhole)
    }

    static func flip(_ bit: Int, _ file: Int32) {
        var byte: UInt8 = 0
        _ = unsafe pread(file, &byte, 1, off_t(bit / 8))
        byte ^= 1 << UInt8(bit % 8)
        _ = unsafe pwrite(file, &byte, 1, off_t(bit / 8))
    }
}
