import Foundation
import Synchronization

/// A line on standard error with the progress of long work, its rate and the time left. Only on a terminal.
final class ProgressBar: Sendable {
    private struct State {
        var started = ContinuousClock.now
        var shown: ContinuousClock.Instant?
        var isVisible = false
    }

    private let title: String
    private let isTerminal = isShown
    private let state = Mutex(State())

    /// Whether anybody sees it.
    static var isShown: Bool { isatty(2) == 1 }

    init(_ title: String) { self.title = title }

    /// - Parameters:
    ///   - fraction: the completed share of the work; nil where it is unknown.
    ///   - secondsLeft: for work that did not begin at 0; else it follows from the fraction.
    func show(fraction: Double?, done: UInt64, unit: String, secondsLeft: Double? = nil) {
        guard isTerminal else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if let shown = state.shown, now - shown < .milliseconds(100) { return }
            guard now - state.started > .milliseconds(300) else { return }
            state.shown = now
            if !state.isVisible { WaitingLine.end() }
            state.isVisible = true
            let seconds = (now - state.started) / .seconds(1)
            let rate = seconds > 0 ? Double(done) / seconds : 0
            var line = "\r\u{1b}[K\(DisplayWidth.safe(title))"
            if let fraction {
                let filled = Int(max(0, min(1, fraction)) * 24)
                line += " [" + String(repeating: "#", count: filled) + String(repeating: ".", count: 24 - filled) + "]"
                line += " \(Int(fraction * 100)) %"
            }
            line += "  \(done) \(unit)  \(Int(rate))/s"
            let expected = fraction.flatMap { $0 > 0.01 ? seconds / $0 - seconds : nil }
            if let left = secondsLeft ?? expected { line += "  \(Self.duration(left)) left" }
            StandardOutput.rawError(line)
        }
    }

    /// Shows a line of text, which the next one replaces.
    func show(_ text: String) {
        guard isTerminal else { return }
        state.withLock { state in
            if !state.isVisible { WaitingLine.end() }
            state.isVisible = true
            StandardOutput.rawError("\r\u{1b}[K\(DisplayWidth.safe(text))")
        }
    }

    func end() {
        state.withLock { state in
            if state.isVisible { StandardOutput.rawError("\r\u{1b}[K") }
            state.isVisible = false
        }
    }

    static func duration(_ seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 1e9)).rounded())
        if whole < 60 { return "\(whole) s" }
        return whole < 3_600 ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3_600) h \(whole / 60 % 60) min"
    }
}
