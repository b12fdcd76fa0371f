/// A binary heap whose smallest element comes first. It is public because only public code is specialized in other rooms.
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
        guard !elements.isEmpty else { return first }
        elements[0] = last
        var at = 0
        while true {
            var least = at
            for child in 2 * at + 1...2 * at + 2 where child < elements.count && elements[child] < elements[least] {
                least = child
            }
            guard least != at else { return first }
            elements.swapAt(at, least)
            at = least
        }
    }

    @inlinable public mutating func removeAll() { elements.removeAll() }
}
