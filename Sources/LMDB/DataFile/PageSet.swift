/// A set of page numbers. Takes about a bit per number if they are close to each other.
package struct PageSet: Sendable {
    private var words: [UInt64: UInt64] = [:]

    package init() {}

    /// - Returns: whether it is new.
    @discardableResult
    package mutating func insert(_ page: UInt64) -> Bool {
        let bit = UInt64(1) << (page & 63)
        let word = words[page >> 6, default: 0]
        words[page >> 6] = word | bit
        return word & bit == 0
    }

    package func contains(_ page: UInt64) -> Bool { words[page >> 6, default: 0] & (1 << (page & 63)) != 0 }
}
