extension Array {
    /// Removes all elements. The memory is kept for the next ones, unless less than a quarter of it was needed this time: what a flood needed is given back.
    @inlinable
    public mutating func empty() { removeAll(keepingCapacity: capacity < 1_024 || count &* 4 >= capacity) }
}
