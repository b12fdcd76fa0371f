internal import Synchronization

/// Refuses appends from a task, and from the tasks that it starts, while `body` runs.
///
/// Synchronization: one atomic flag, so a task that outlives the guarded work may append again.
package final class AppendGuard: Sendable {
    @TaskLocal private static var current: AppendGuard?
    private let isActive = Atomic(true)

    private init() {}

    static var isActive: Bool { current?.isActive.load(ordering: .acquiring) ?? false }

    /// Runs `body`; what it appends throws `.mutationDuringEnumeration`.
    package static func refusingAppends<Result>(_ body: () async throws -> Result) async throws -> Result {
        let guarded = AppendGuard()
        defer { guarded.isActive.store(false, ordering: .releasing) }
        return try await $current.withValue(guarded) { try await body() }
    }
}
