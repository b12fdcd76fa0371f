/// A line of blocks, one for each value; a space where there is none.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")
    private static let eighths = Array(" ▏▎▍▌▋▊▉")

    static func text(_ values: [Double?], _ scale: ClosedRange<Double>) -> String {
        String(
            values.map { value -> Character in
                guard let value else { return " " }
                return blocks[Int((scale.share(of: value) * Double(blocks.count - 1)).rounded())]
            })
    }

    /// A bar of a share of the width, to an eighth of a column.
    static func bar(_ share: Double, width: Int) -> String {
        let length = Int((max(0, min(1, share)) * Double(width * 8)).rounded())
        return String(repeating: "█", count: length / 8) + (length % 8 == 0 ? "" : String(eighths[length % 8]))
    }
}

extension ClosedRange<Double> {
    /// Where a value lies in it, from 0 to 1.
    func share(of value: Double) -> Double { Swift.min(1, Swift.max(0, (value - lowerBound) / (upperBound - lowerBound))) }
}
