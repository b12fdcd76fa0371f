/// A named table of an open environment: byte keys in byte order, each with one byte value.
public struct RawTable: Sendable, Hashable {
    public let name: String
    @usableFromInline let number: UInt32

    /// The table in which LMDB keeps its free pages.
    static let freePages = RawTable(name: "", number: 0)

    init(name: String, number: UInt32) {
        self.name = name
        self.number = number
    }
}
