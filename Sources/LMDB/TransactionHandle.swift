/// LMDB's transaction and, so that it cannot be closed before, its environment.
@safe public struct TransactionHandle {
    let environment: Environment
    // unsafe: valid from begin until commit or abort, which only the owning transaction does.
    @unsafe let pointer: OpaquePointer
    /// Notes the changes of a write transaction, where somebody asked for it.
    let watch: RowWatch?

    init(environment: Environment, pointer: OpaquePointer, watch: RowWatch? = nil) {
        self.environment = environment
        self.watch = watch
        unsafe self.pointer = pointer
    }
}
