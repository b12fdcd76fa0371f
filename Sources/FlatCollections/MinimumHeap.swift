/// A binary heap whose smallest element comes first.
public struct MinimumHeap<Element: Comparable & Sendable>: Sendable {
    @usableFromInline var elements: [Element] = []

    @inlinable public init() {}

    @inlinable public var count: Int { elements.count }
    @inlinable public var isEmpty: Bool { elements.isEmpty }
    @inlinable public var smallest: Element? { elements.first }

    @inlinable public mutating func insert(_ element: Element) {
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
    @inlinable public mutating func removeSmallest() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        if !elements.isEmpty { replaceSmallest(with: last) }
        return first
    }

    /// Does nothing in an empty heap.
    @inlinable public mutating func replaceSmallest(with element: Element) {
        guard !elements.isEmpty else { return }
        var at = 0
        while true {
            var child = 2 * at + 1
            guard child < elements.count else { break }
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < element else { break }
            elements[at] = elements[child]
            at = child
        }
        elements[at] = element
    }

    @inlinable public mutating func removeAll() { elements.removeAll() }
}
