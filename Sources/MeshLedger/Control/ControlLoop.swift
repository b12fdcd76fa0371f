import EventLog
import Glibc
import ProtobufWire

/// Serves all clients from one thread, which waits for none of them: tasks process the requests.
///
/// A client has at most one request in progress; its next frame is not received before that one is answered.
struct ControlLoop {
    typealias Handler = @Sendable (ControlRequest, UInt64) -> Void

    private let path: String
    private let listener: ControlListener
    private let mailbox: ControlMailbox
    private let limits: ControlLimits
    private let handler: Handler
    private var clients: [UInt64: ControlConnection] = [:]
    private var nextClient: UInt64 = 0
    private var isListening = true
    private var closingSince: ContinuousClock.Instant?
    /// No client is accepted until then, since the process has no file descriptors left.
    private var isShutUntil: ContinuousClock.Instant?
    private var now = ContinuousClock.now

    /// How long a closing process waits for short requests and unsent answers.
    private static let closingTime = Duration.seconds(5)
    private static let tick_ms: Int32 = 500

    /// - Parameter handler: starts to process a client's request; the reply arrives through the mailbox.
    init(
        ledger path: String, listener: ControlListener, mailbox: ControlMailbox, limits: ControlLimits, handler: @escaping Handler
    ) {
        self.path = path
        self.listener = listener
        self.mailbox = mailbox
        self.limits = limits
        self.handler = handler
    }

    /// Serves clients until the mailbox reports that it is closing.
    mutating func run() {
        while true {
            let ready = wait()
            now = .now
            deliver()
            if closingSince != nil, isDone { break }
            if ready.isListenerReady { admit() }
            for client in ready.readable { receive(client) }
            for client in clients.keys { send(client) }
            dropIdle()
        }
        stopListening()
        for client in clients.keys { leave(client) }
    }

    /// Tells a client that nothing it may have sent meanwhile was done.
    private mutating func leave(_ client: UInt64) {
        guard var connection = clients.removeValue(forKey: client) else { return }
        if !connection.isRunning { connection.queue(.failure(.control(ControlError(.closing, path: path)))) }
        _ = connection.send(now: now)
        close(connection.file)
    }

    private struct Ready {
        var isListenerReady = false
        var readable: [UInt64] = []
    }

    private func wait() -> Ready {
        var polls = [pollfd(fd: mailbox.wakeUp, events: Int16(POLLIN), revents: 0)]
        let admits = isListening && (isShutUntil.map { $0 <= now } ?? true)
        polls.append(pollfd(fd: admits ? listener.file : -1, events: Int16(POLLIN), revents: 0))
        let order = Array(clients.keys)
        let receivers = mayReceive
        for client in order {
            guard let connection = clients[client] else { continue }
            var events: Int32 = 0
            if receivers.contains(client) { events |= POLLIN }
            if connection.hasOutput { events |= POLLOUT }
            polls.append(pollfd(fd: connection.file, events: Int16(events), revents: 0))
        }
        let isQuiet = clients.isEmpty && closingSince == nil && isShutUntil == nil
        guard unsafe poll(&polls, nfds_t(polls.count), isQuiet ? -1 : Self.tick_ms) > 0 else { return Ready() }
        var ready = Ready()
        ready.isListenerReady = polls[1].revents & Int16(POLLIN) != 0
        for (place, client) in order.enumerated() where polls[place + 2].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
            // A client with a request in progress is not read from; a hang-up is noticed when its answer is sent.
            if receivers.contains(client) { ready.readable.append(client) }
            if polls[place + 2].revents & Int16(POLLHUP | POLLERR) != 0, !receivers.contains(client) {
                ready.readable.append(client)
            }
        }
        return ready
    }

    /// The clients to read from: those without a request in progress, as long as there is room for their frames. If there is no room, the one with the most
    /// bytes received proceeds once no request is in progress, so that every client gets its turn.
    private var mayReceive: Set<UInt64> {
        let waiting = clients.filter { !$0.value.isRunning && !$0.value.endsWhenSent }
        let held = clients.values.reduce(0) { $0 + $1.heldBytes }
        if held < limits.mostBytes { return Set(waiting.keys) }
        guard !clients.values.contains(where: \.isRunning) else { return [] }
        return Set([waiting.max { $0.value.heldBytes < $1.value.heldBytes }?.key].compactMap { $0 })
    }

    // MARK: Accepting and closing clients

    private mutating func admit() {
        isShutUntil = nil
        while true {
            let file = accept(listener.file, nil, nil)
            guard file >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                if errno != EAGAIN { isShutUntil = now.advanced(by: .milliseconds(500)) }
                return
            }
            _ = (fcntl(file, F_SETFD, FD_CLOEXEC), fcntl(file, F_SETFL, O_NONBLOCK))
            nextClient += 1
            var client = ControlConnection(file: file, now: now)
            if ControlSocket.trustedPeer(file, of: path) == nil || !makeRoom() {
                client.queue(
                    .failure(.control(ControlError(.busy, path: path, "it already serves \(limits.mostClients) clients"))))
                _ = client.send(now: now)
                close(file)
            } else {
                clients[nextClient] = client
            }
        }
    }

    /// If all slots are taken, closes the client that has been idle the longest.
    private mutating func makeRoom() -> Bool {
        guard clients.count >= limits.mostClients else { return true }
        let idle = clients.filter { !$0.value.isRunning && now - $0.value.lastActivity > limits.idleTime }
        guard let oldest = idle.min(by: { $0.value.lastActivity < $1.value.lastActivity }) else { return false }
        drop(oldest.key)
        return true
    }

    private mutating func drop(_ client: UInt64) {
        if let connection = clients.removeValue(forKey: client) { close(connection.file) }
    }

    private mutating func dropIdle() {
        for (client, connection) in clients {
            let silence = now - connection.lastActivity
            let isLate =
                !connection.isRunning && (!connection.hasGreeted || connection.isInsideFrame) && silence > limits.patience
            let isUnread = connection.hasOutput && now - connection.lastSent > limits.unreadTime
            if isLate || isUnread { drop(client) }
            if connection.isRunning, !connection.hasOutput, now - connection.lastSent > limits.aliveInterval {
                clients[client]?.queue(.alive)
            }
        }
    }

    // MARK: Frames

    private mutating func receive(_ client: UInt64) {
        guard var connection = clients.removeValue(forKey: client) else { return }
        if connection.isRunning || connection.endsWhenSent {
            close(connection.file)  // it has hung up
            return
        }
        connection.lastActivity = now
        switch connection.receive(limits) {
        case .part: clients[client] = connection
        case .end: close(connection.file)
        case .refused(let reason):
            clients[client] = connection
            refuse(client, ControlError(.protocolBroken, path: path, reason))
        case .body(let body):
            clients[client] = connection
            take(body, from: client)
        }
    }

    private mutating func take(_ body: [UInt8], from client: UInt64) {
        let request: ControlRequest
        do {
            request = try ControlRequest(body.rawSpan, path: path)
        } catch {
            return refuse(client, error as? ControlError ?? ControlError(.protocolBroken, path: path, "\(error)"))
        }
        switch request {
        case .hello(let lowest, let highest):
            guard lowest <= ControlServer.version, highest >= ControlServer.version else {
                let reason = "it speaks version \(ControlServer.version) of the protocol, not \(lowest) to \(highest)"
                return refuse(client, ControlError(.unknownRequest, path: path, reason))
            }
            clients[client]?.hasGreeted = true
            answer(client, .answer(ControlAnswer(numbers: [UInt64(ControlServer.version), UInt64(getpid())])))
        case _ where clients[client]?.hasGreeted != true:
            refuse(client, ControlError(.protocolBroken, path: path, "the first request is not a greeting"))
        case .unknown(let number):
            let reason = "process \(getpid()) does not know requests of kind \(number); it runs another version of this program"
            answer(client, .failure(.control(ControlError(.unknownRequest, path: path, reason))))
        case _ where !listener.place.isThere:
            // This process has another ledger open than the one that the client requests.
            answer(client, .failure(.log(EventLogError(.replaced, path: path))))
        case _ where closingSince != nil: answer(client, .failure(.control(ControlError(.closing, path: path))))
        default:
            clients[client]?.work = .running(isShort: request.isShort, bytes: body.count)
            clients[client]?.lastSent = now
            handler(request, client)
        }
    }

    private mutating func refuse(_ client: UInt64, _ error: ControlError) {
        answer(client, .failure(.control(error)))
        clients[client]?.endsWhenSent = true
    }

    private mutating func answer(_ client: UInt64, _ reply: ControlReply) {
        clients[client]?.work = .none
        clients[client]?.queue(reply)
        clients[client]?.lastActivity = now
        clients[client]?.lastSent = now
    }

    private mutating func send(_ client: UInt64) {
        guard clients[client]?.hasOutput == true else { return }
        let isThere = clients[client]?.send(now: now) ?? false
        if !isThere || (clients[client]?.endsWhenSent == true && clients[client]?.hasOutput == false) { drop(client) }
    }

    private mutating func deliver() {
        let letters = mailbox.takeAll()
        for (client, progress) in letters.progress where clients[client]?.isRunning == true && clients[client]?.hasOutput == false
        {
            clients[client]?.queue(.progress(progress))
        }
        for (client, reply) in letters.replies where clients[client]?.isRunning == true { answer(client, reply) }
        if letters.isClosing, closingSince == nil { beginClosing() }
    }

    // MARK: Closing

    /// Clients that wait for long work receive a failure; short work is finished.
    private mutating func beginClosing() {
        closingSince = now
        stopListening()
        for (client, connection) in clients {
            guard case .running(let isShort, _) = connection.work, !isShort else { continue }
            answer(client, .failure(.control(ControlError(.closing, path: path))))
        }
    }

    private var isDone: Bool {
        guard let closingSince, now - closingSince < Self.closingTime else { return true }
        return !clients.values.contains { $0.isRunning || $0.hasOutput }
    }

    private mutating func stopListening() {
        guard isListening else { return }
        isListening = false
        listener.stop()
    }
}
