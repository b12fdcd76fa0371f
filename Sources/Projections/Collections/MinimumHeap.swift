/// A binary heap whose smallest element comes first.
package struct MinimumHeap<Element: Comparable & Sendable>: Sendable {
    private var elements: [Element] = []

    package init() {}

    package var count: Int { elements.count }
    package var isEmpty: Bool { elements.isEmpty }
    package var smallest: Element? { elements.first }

    package mutating func insert(_ element: Element) {
        elements.append(element)
        var at = elements.count - 1
        while at > 0 {
            let parent = (at - 1) / 2
            guard elements[at] < elements[parent] else { return }
            elements.swapAt(at, parent)
            at = parent
        }
    }

    @discardableResult
    package mutating func removeSmallest() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        guard !elements.isEmpty else { return first }
        elements[0] = last
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2] where child < elements.count && elements[child] < elements[least] {
                least = child
            }
            guard least != at else { return first }
            elements.swapAt(at, least)
            at = least
        }
    }

    package mutating func removeAll() { elements.removeAll() }
}
