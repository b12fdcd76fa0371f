/// Work for other threads, whose results are returned in the order of submission.
package struct WorkAhead<Value: Sendable, Failure: Error> {
    private var works: [WorkBeside<Value, Failure>] = []

    package init() {}

    package var count: Int { works.count }

    package mutating func append(_ work: @escaping @Sendable () -> Result<Value, Failure>) {
        works.append(WorkBeside(isOffered: WorkBehind.leavesCore, work))
    }

    /// The oldest result. Until it is ready, the caller's thread does work that no other thread has begun.
    package mutating func removeFirst() -> Result<Value, Failure> {
        let first = works.removeFirst()
        first.begin()
        while !first.hasEnded, let other = works.first(where: { !$0.hasBegun }) { other.begin() }
        return first.result()
    }

    /// Ensures that no work continues.
    package func drop() {
        for work in works { work.drop() }
    }
}
