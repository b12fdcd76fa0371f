import Foundation

/// Seconds of a clock that never goes back.
func secondsNow() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// One line of JSON, with the same first members as the C program's.
func report(_ work: String, _ records: Int, _ seconds: Double, _ more: [(String, Any)] = []) {
    var line = "{\"work\":\"\(work)\",\"records\":\(records),\"seconds\":\(seconds)"
    line += ",\"per_second\":\(Int(Double(records) / seconds))"
    for (name, value) in more { line += ",\"\(name)\":\(value)" }
    print(line + "}")
}

/// This process's own memory in KiB, without mapped files: a value of `/proc/self/status`.
func memory(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) } ?? 0
}
