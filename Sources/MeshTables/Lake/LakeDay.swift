import MeshLedger

/// A day in UTC, as in the names of folders and partition values; nil for rows without a time.
struct LakeDay: Hashable, Comparable {
    /// Days since 1970.
    let number: Int64?

    init(seconds: Int64?) { number = seconds.map { $0 >= 0 ? $0 / 86_400 : ($0 - 86_399) / 86_400 } }

    static func < (left: LakeDay, right: LakeDay) -> Bool { left.number ?? .min < right.number ?? .min }

    var text: String? { number.map { String(ISO8601.text(seconds: $0 * 86_400).prefix(10)) } }
    var folder: String { "day=" + (text ?? "__HIVE_DEFAULT_PARTITION__") }
    var json: JSONValue { text.map { .string($0) } ?? .null }
}
