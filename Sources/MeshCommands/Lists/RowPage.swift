/// Which rows of a list are on the page, and how many more there are.
struct RowPage {
    /// How long rows are counted that are not shown.
    private static let patience = Duration.milliseconds(20)

    private(set) var skips: Int
    private(set) var left: Int
    /// How many rows came after the page.
    private(set) var beyond: UInt64 = 0
    /// How many rows there were so far.
    private(set) var seen: UInt64 = 0
    private let countsMore: Bool
    private var end: ContinuousClock.Instant?
    private var isCut = false

    /// - Parameters:
    ///   - options: nil where the rows that come are those of the page, and perhaps one more.
    ///   - countsMore: whether it takes note of rows after the page.
    init(_ options: PageOptions?, limit: Int?, countsMore: Bool) {
        skips = options?.offset ?? 0
        left = options != nil || countsMore ? limit ?? .max : .max
        self.countsMore = countsMore
    }

    /// Whether the next row is on the page.
    mutating func takes() -> Bool {
        seen += 1
        if skips > 0 {
            skips -= 1
            return false
        }
        guard left > 0 else {
            beyond += 1
            if beyond % 64 == 1 {
                let now = ContinuousClock.now
                if let end { isCut = now > end } else { end = now + Self.patience }
            }
            return false
        }
        left -= 1
        return true
    }

    var goesOn: Bool { left > 0 || countsMore && !isCut }

    /// How many rows there are in all; nil where counting would have taken long.
    var total: UInt64? { isCut ? nil : seen }

    static func note(_ shown: Int, of total: UInt64?, atLeast least: UInt64) -> String {
        let all =
            if let total {
                " of \(total.grouped)"
            } else if least > UInt64(shown) + 1 {
                " of more than \((least - 1).grouped)"
            } else {
                ", and there are more"
            }
        return "\(UInt64(shown).grouped)\(all); --limit and --offset show more"
    }

    /// Counts rows one by one while that is quick; nil where it is not.
    static func counted(_ visit: (() -> Bool) throws -> Void) rethrows -> UInt64? {
        let end = ContinuousClock.now + patience
        var (count, isWhole) = (UInt64(0), true)
        try visit {
            count += 1
            if count % 64 == 0, ContinuousClock.now > end { isWhole = false }
            return isWhole
        }
        return isWhole ? count : nil
    }
}

extension BinaryInteger {
    /// `1 packet`, `1,204 packets`; with another form for many, `1 packet is`, `1,204 packets are`.
    func counted(_ one: String, _ many: String? = nil) -> String {
        "\(grouped) \(self == 1 ? one : many ?? one + "s")"
    }
}

extension BinaryInteger {
    /// With commas between groups of three digits.
    var grouped: String {
        var text = ""
        for (index, digit) in String(UInt64(clamping: self)).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
