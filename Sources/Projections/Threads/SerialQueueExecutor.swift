import Dispatch

/// As many threads as cores, shared by all decoding and folding: more threads would only take the cores from each other. The quality of service is
/// one that other code is unlikely to block.
private let foldThreads = DispatchQueue.global(qos: .utility)

/// A thread for an actor that blocks: LMDB's write transactions belong to one thread at a time
/// and wait for the disk, which the cooperative pool must never do.
package final class SerialQueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label, target: foldThreads)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedSerialExecutor()
        queue.async { unsafe job.runSynchronously(on: executor) }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}

/// Several threads for the pure decoding stage, outside the cooperative pool because reading the log can wait for the disk.
package final class DecodeExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "meshledger.decode", attributes: .concurrent, target: foldThreads)

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        queue.async { unsafe job.runSynchronously(on: executor) }
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }
}
