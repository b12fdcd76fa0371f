import EventLog
import Foundation
import MeshViews

/// Receives requests from commands for the process that writes to a ledger.
///
/// One thread serves the clients (see `ControlLoop`), tasks process their requests; so clients that are slow, silent or broken take a
/// bounded amount of memory and delay no other client.
///
/// Synchronization: everything is handed over through the mailbox.
final class ControlServer: Sendable {
    /// The version of the protocol, see `CONTROL.md`.
    static let version: UInt32 = 1

    private let mailbox: ControlMailbox
    private let end = Latch()

    /// - Parameter perform: processes a request; its failures are sent to the client.
    /// - Throws: if no socket can be created in the folder.
    init(
        ledger path: String, limits: ControlLimits = ControlLimits(),
        perform: @escaping @Sendable (ControlRequest, @escaping @Sendable (ControlProgress) -> Void) async throws -> ControlAnswer
    ) throws(ControlError) {
        let mailbox = try ControlMailbox(path: path)
        let listener = try ControlSocket.listen(in: path)
        self.mailbox = mailbox
        let end = end
        let thread = Thread {
            var loop = ControlLoop(ledger: path, listener: listener, mailbox: mailbox, limits: limits) { request, client in
                Task {
                    do {
                        mailbox.post(.answer(try await perform(request) { mailbox.post($0, to: client) }), to: client)
                    } catch {
                        mailbox.post(.failure(ControlFailure(error, path: path)), to: client)
                    }
                }
            }
            loop.run()
            end.open()
        }
        thread.name = "meshledger-control"
        thread.stackSize = 1 << 20
        thread.start()
    }

    deinit { mailbox.beginClosing() }

    /// Stops accepting requests. Returns when the short ones have been answered and the clients are gone.
    func close() async {
        mailbox.beginClosing()
        await end.wait()
    }
}
