import EventLog
import Foundation
import Glibc
import TestKit

/// Reads one image after the other, until one crashes it.
///
/// Prints `begin N` before each image, and after it `whole`, `refused`, `damaged`, or `wrong …`.
struct BitRotChild {
    private let options: Options

    init(_ options: Options) throws { self.options = options }

    func run() async throws {
        let pristine = try options.text("pristine")
        let work = try options.text("work")
        let total = try options.number("total", 0)
        let truth = try Truth(pristine)
        let seed = try UInt64(options.number("seed", -1) < 0 ? 0 : options.number("seed", 0))
        let isSample = try options.number("seed", -1) >= 0
        let path = work + "/log/1/data.mdb"
        let file = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw Failure("\(path) cannot be opened") }
        for index in try options.number("first", 0)..<options.number("end", 0) {
            let bit = Self.bit(index, total: total, seed: isSample ? seed : nil)
            say("begin \(index)")
            Self.flip(bit, file)
            say(try await verdict(work, bit, truth))
            Self.flip(bit, file)
        }
        close(file)
    }

    /// The bit of an image: each in turn, or as the seed says.
    static func bit(_ index: Int, total: Int, seed: UInt64?) -> Int {
        guard let seed else { return index }
        var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 0x1000_0001)
        return Int(generator.next() % UInt64(total))
    }

    private static func flip(_ bit: Int, _ file: Int32) {
        var byte: UInt8 = 0
        _ = unsafe pread(file, &byte, 1, off_t(bit / 8))
        byte ^= 1 << UInt8(bit % 8)
        _ = unsafe pwrite(file, &byte, 1, off_t(bit / 8))
    }

    static func restore(_ pristine: String, _ work: String) throws {
        try Data(contentsOf: URL(fileURLWithPath: pristine + "/log/1/data.mdb"))
            .write(to: URL(fileURLWithPath: work + "/log/1/data.mdb"))
    }

    private func verdict(_ work: String, _ bit: Int, _ truth: Truth) async throws -> String {
        if let wrong = try truth.salvage(of: work, bit: bit) { return "wrong \(wrong)" }
        let log: EventLog
        do throws(EventLogError) {
            log = try EventLog.open(at: work, options: EventLogOptions(access: .readOnly))
        } catch {
            return "refused"
        }
        let (wrong, isWhole) = read(log, bit, truth)
        await log.close()
        if let wrong { return "wrong bit \(bit): \(wrong)" }
        if isWhole && truth.isVital[bit / 8] {
            return "wrong bit \(bit) of events \(truth.touched(bit)) is not found by a check"
        }
        return isWhole ? "whole" : "damaged"
    }

    private func read(_ log: EventLog, _ bit: Int, _ truth: Truth) -> (wrong: String?, isWhole: Bool) {
        var wrong: String?
        var isWhole = true
        var seen = 0
        do {
            try log.withEvents(from: EventSequence(1)) { header, payload in
                seen += 1
                let sequence = header.sequence.rawValue
                guard sequence >= 1, sequence <= UInt64(truth.events.count) else {
                    wrong = "event \(sequence) is invented"
                    return true
                }
                let event = truth.events[Int(sequence) - 1]
                let isSame = unsafe payload.withUnsafeBytes { unsafe event.payload.elementsEqual($0) }
                if header != event.header || !isSame { wrong = "event \(sequence) is read with other bytes" }
                return seen <= truth.events.count + 1
            }
            if seen != truth.events.count { isWhole = false }
            let touched = EventSequence(truth.touched(bit).lowerBound)
            if let event = try log.event(touched), event != truth.events[Int(touched.rawValue) - 1] {
                wrong = "event \(touched) is found with other bytes"
            }
        } catch {
            isWhole = false
        }
        do throws(EventLogError) {
            if try !log.verify().isIntact { isWhole = false }
        } catch {
            isWhole = false
        }
        return (wrong, isWhole)
    }
}
