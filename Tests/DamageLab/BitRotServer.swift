import EventLog
import Foundation
import Glibc

/// Knows what the whole ledger holds, and begins readers as copies of itself: each behind the image that crashed the one before.
///
/// Prints `crashes COUNT` and `counts …` at the end, and `report BIT PATH` with a copy of an image that crashed a reader, `reports` times.
struct BitRotServer {
    private let options: Options
    private let truth: Truth
    private let bits: BitChoice
    private let range: Range<Int>
    private let work: String
    private let progress: String
    private let reports: Int
    private let salvages: Int
    private let file: Int32

    init(_ options: Options) throws {
        self.options = options
        bits = try BitChoice(options)
        range = try options.number("first", 0)..<options.number("end", 0)
        work = try options.text("work")
        progress = try options.text("progress")
        reports = try options.number("reports", 0)
        salvages = try options.number("salvages", 1)
        truth = try Truth(options.text("pristine"))
        file = unsafe Glibc.open(work + "/log/1/data.mdb", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw Failure("\(work) cannot be opened") }
    }

    /// - Returns: in each reader, the reader.
    func serve() throws -> BitRotChild {
        var counts = BitCounts()
        var crashes = 0
        var next = range.lowerBound
        while next < range.upperBound {
            unsafe unlink(progress)
            let process = try Fork.copy()
            if process == 0 { return try BitRotChild(options, truth, from: next) }
            let end = Fork.end(of: process)
            let found = BitProgress.read(progress)
            if let found { counts.add(found) }
            next = range.upperBound
            if end == .exited(0) { break }
            guard let found, case .signalled(let signal) = end else { throw Failure("a reader ended with \(end)") }
            let bit = bits.bit(Int(found.next))
            switch signal {
            case SIGSEGV, SIGBUS, SIGABRT: break  // the store's own
            case SIGALRM: throw Failure("bit \(bit) hangs the reader")
            default: throw Failure("bit \(bit) ends the reader with signal \(signal)")
            }
            try look(at: bit, crash: crashes)
            if crashes % salvages == 0 { counts.salvages += 1 }
            crashes += 1
            counts.images += 1
            next = Int(found.next) + 1
        }
        say("crashes \(crashes)")
        say("counts \(counts.text)")
        exit(0)
    }

    /// The image is still as the reader that it crashed had it.
    private func look(at bit: Int, crash: Int) throws {
        if crash % salvages == 0, let wrong = try truth.salvage(of: work, bit: bit) { throw Failure(wrong) }
        if crash < reports {
            let copy = "\(work)-\(bit)"
            try FileManager.default.copyItem(atPath: work, toPath: copy)
            say("report \(bit) \(copy)")
        }
        BitRotChild.flip(bit, file)
    }
}
