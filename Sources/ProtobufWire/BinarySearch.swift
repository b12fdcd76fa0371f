extension RandomAccessCollection {
    /// The place of the first element for which the condition holds, in an order in which it holds for all later ones; the end if for none.
    @inlinable
    package func partitioningIndex(where belongsBehind: (Element) -> Bool) -> Index {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
            if belongsBehind(self[middle]) { high = middle } else { low = index(after: middle) }
        }
        return low
    }
}
