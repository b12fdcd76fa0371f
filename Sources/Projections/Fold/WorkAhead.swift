/// Work for other threads whose results are wanted in the order in which it was given.
package struct WorkAhead<Value: Sendable, Failure: Error> {
    private var works: [WorkBeside<Value, Failure>] = []

    package init() {}

    package var count: Int { works.count }

    package mutating func append(_ work: @escaping @Sendable () -> Result<Value, Failure>) { works.append(WorkBeside(work)) }

    /// The oldest result. Until it is there, the caller's thread does what no other has begun.
    package mutating func removeFirst() -> Result<Value, Failure> {
        let first = works.removeFirst()
        first.begin()
        while !first.hasEnded, let other = works.first(where: { !$0.hasBegun }) { other.begin() }
        return first.result()
    }

    /// Sees to it that no work goes on.
    package func drop() {
        for work in works { work.drop() }
    }
}
