/// Work that must complete even if the waiting task is cancelled: draining a queue, flushing views.
enum Uncancelled {
    static func run<Value: Sendable, Failure: Error>(_ body: @escaping @Sendable () async throws(Failure) -> Value)
        async throws(Failure) -> Value
    {
        let task = Task { () async -> Result<Value, Failure> in
            do throws(Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try await task.value.get()
    }
}
