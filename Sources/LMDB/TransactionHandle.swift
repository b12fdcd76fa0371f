/// LMDB's transaction together with its environment, so that the environment cannot be closed first.
@safe public struct TransactionHandle {
    let environment: Environment
    // unsafe: valid from begin until commit or abort, which only the owning transaction does.
    @unsafe let pointer: OpaquePointer
    /// Records the changes of a write transaction, if requested.
    let watch: RowWatch?

    init(environment: Environment, pointer: OpaquePointer, watch: RowWatch? = nil) {
        self.environment = environment
        self.watch = watch
        unsafe self.pointer = pointer
    }
}
