/// Which nodes have announced a public key as their first.
struct KeyHolders: Sendable {
    private var nodes: [[UInt8]: [UInt32]] = [:]
    private var entries = 0

    /// How many keys are remembered, including those of nodes that were evicted since.
    var count: Int { entries }

    mutating func add(_ key: [UInt8], of node: UInt32) {
        nodes[key, default: []].append(node)
        entries += 1
    }

    /// The last node that announced the key, among those that still have it.
    func last(of key: [UInt8], where isHolder: (UInt32) -> Bool) -> UInt32? { nodes[key]?.last(where: isHolder) }
}
