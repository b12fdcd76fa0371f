import Foundation
import Synchronization

/// What a process does when the system cannot give it a page of a file that it has mapped (SIGBUS): the file was cut short, or the disk
/// failed.
///
/// Safe: the handler only calls what a handler may call. Synchronization: the flag is made before the handler is installed.
enum LostPages {
    private static let isTold = Atomic(false)

    /// Ends this process with one line when it happens. The child that `verify` guards is ended by the signal, as by any crash.
    static func install() {
        guard unsafe getenv(GuardedChild.progressVariable) == nil else { return }
        _ = isTold.load(ordering: .relaxed)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { _, facts, _ in
            LostPages.end(unsafe facts?.pointee.si_code ?? 0)
        }
        action.sa_flags = SA_SIGINFO
        unsafe sigaction(SIGBUS, &action, nil)
    }

    private static func end(_ code: Int32) {
        // Another process sent it: it ends this one as soon as the handler returns.
        guard code > 0 else {
            signal(SIGBUS, SIG_DFL)
            raise(SIGBUS)
            return
        }
        // Of several threads, the first one writes.
        guard !isTold.exchange(true, ordering: .relaxed) else { while true { pause() } }
        let line: StaticString = """
            meshledger: a file of the ledger was cut short, or could not be read from the disk, while it was in use: run \
            `meshledger verify`, and if it finds damage, restore a backup

            """
        _ = unsafe write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
        _exit(ExitStatus.badData.rawValue)
    }
}
