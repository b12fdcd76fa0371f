/// LMDB's transaction and, so that it cannot be closed before, its environment.
@safe public struct TransactionHandle {
    let environment: Environment
    // unsafe: valid from begin until commit or abort, which only the owning transaction does.
    @unsafe let pointer: OpaquePointer

    init(environment: Environment, pointer: OpaquePointer) {
        self.environment = environment
        unsafe self.pointer = pointer
    }
}
