import CMosquitto
import EventLog
import Foundation
import Synchronization

/// Listens to a broker on a separate thread and passes on its messages, reconnecting when the connection is lost.
///
/// Synchronization: `run` belongs to the thread; `stop` and `wake` may be called from anywhere.
final class MQTTConnection: Sendable {
    enum Item: Sendable {
        case deliveries([MosquittoClient.Delivery])
        case connected
        /// The connection is gone; its messages are ahead of this in the queue.
        case lost

        /// Its approximate size in memory.
        fileprivate var byteCount: Int {
            guard case .deliveries(let deliveries) = self else { return 0 }
            return deliveries.reduce(0) {
                $0 + $1.payload.count + $1.topic.utf8.count + MemoryLayout<MosquittoClient.Delivery>.stride
            }
        }
    }

    private enum Outcome {
        case stopped
        case refusedByStore
        case failed(MQTTFailure, wasSubscribed: Bool)
    }

    private static let messagesATurn = 256
    private static let idleMilliseconds: Int32 = 500
    private static let longestUnwrittenMilliseconds: Int32 = 50
    /// Two programs with one client id end each other's connections sooner.
    private static let shortConnection = Duration.seconds(60)

    let output: Handoff<Item>
    private let options: MQTTOptions
    private let report: @Sendable (MQTTNotice) -> Void
    private let wakeUp: WakeUpPipe
    private let stopFlag = StopFlag()
    private let isConnecting = Mutex(false)
    private let result = Mutex<IngestError?>(nil)

    init(_ options: MQTTOptions, report: @escaping @Sendable (MQTTNotice) -> Void) throws(IngestError) {
        self.options = options
        self.report = report
        output = Handoff(limit: max(1, options.queueLimit / Self.messagesATurn), byteLimit: options.queueByteLimit)
        guard let wakeUp = WakeUpPipe() else {
            throw IngestError(.unreachable, subject: options.address.text, reason: "too many files are open")
        }
        self.wakeUp = wakeUp
    }

    /// Why the connection ended, unless it was stopped.
    var failure: IngestError? { result.withLock { $0 } }

    /// Ends `run` once everything that was read is stored. It does not wait for a thread that is still waiting for the network.
    func stop() {
        stopFlag.set()
        wake()
        if isConnecting.withLock({ $0 }) { output.close() }
    }

    private func offer(_ item: Item) -> Bool { output.offer(item, byteCount: item.byteCount) }

    /// Makes the thread check whether something was stored.
    func wake() { wakeUp.ring() }

    /// Listens until it is stopped or fails permanently. Call it on a thread that may block.
    func run() {
        var backoff = Backoff(first_s: options.firstRetrySeconds, longest_s: options.longestRetrySeconds)
        var (hasSubscribed, wasLost) = (false, false)
        loop: while !stopFlag.isSet {
            let begun = ContinuousClock.now
            switch session(afterLoss: wasLost) {
            case .stopped, .refusedByStore: break loop
            case .failed(let failure, let wasSubscribed):
                if stopFlag.isSet { break loop }
                hasSubscribed = hasSubscribed || wasSubscribed
                wasLost = wasSubscribed
                if wasSubscribed {
                    backoff.lasted(begun.duration(to: .now) / .seconds(1))
                    guard offer(.lost) else { break loop }
                }
                if failure.needsPerson, !hasSubscribed {
                    result.withLock { $0 = failure.error }
                    break loop
                }
                let wait = backoff.take()
                report(.lost(reason: failure.error.description, retrySeconds: wait))
                pause(wait)
            }
        }
        output.close()
    }

    /// One connection, from the attempt to its loss.
    ///
    /// - Parameter afterLoss: whether the one before was lost, and this is the first attempt since.
    private func session(afterLoss: Bool) -> Outcome {
        report(.connecting(broker: options.address.text))
        let client: MosquittoClient
        do throws(MQTTFailure) {
            client = try prepare()
            try connect(client)
            if stopFlag.isSet { return .stopped }
            try waitForAnswer(client)
            if stopFlag.isSet { return .stopped }
            guard try subscribe(client) else { return .refusedByStore }
        } catch {
            return .failed(error, wasSubscribed: false)
        }
        guard offer(.connected) else { return .refusedByStore }
        return listen(client, afterLoss: afterLoss)
    }

    private func prepare() throws(MQTTFailure) -> MosquittoClient {
        let address = options.address
        let id = options.clientID ?? "meshledger-" + String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
        guard let client = MosquittoClient(clientID: id, isCleanSession: !options.keepsSession) else {
            throw MQTTFailure(.badRequest, address, "the client id is not accepted by the MQTT library", needsPerson: true)
        }
        if let user = address.user, client.setCredentials(user: user, password: address.password) != 0 {
            throw MQTTFailure(.badRequest, address, "user or password cannot be sent over MQTT", needsPerson: true)
        }
        guard address.usesTLS else { return client }
        for file in [options.certificateAuthorityFile, options.certificateFile, options.keyFile].compactMap({ $0 })
        where unsafe access(file, R_OK) != 0 {
            let code: IngestError.Code = errno == EACCES ? .noPermission : .notFound
            throw MQTTFailure(code, address, "\(file) cannot be read", cause: errorText(errno), needsPerson: true)
        }
        let result = client.setTLS(
            authorities: options.certificateAuthorityFile, certificate: options.certificateFile, key: options.keyFile,
            isInsecure: options.isInsecure)
        guard result == 0 else {
            throw MQTTFailure(
                .notTrusted, address, "TLS cannot be set up", cause: MosquittoClient.text(result), needsPerson: true)
        }
        return client
    }

    private func connect(_ client: MosquittoClient) throws(MQTTFailure) {
        isConnecting.withLock { $0 = true }
        let (result, systemError) = client.connect(
            host: options.address.host, port: options.address.port, keepAliveSeconds: options.keepAliveSeconds)
        isConnecting.withLock { $0 = false }
        guard result == 0 else {
            throw .connecting(result, systemError: systemError, complaints: client.complaints, options.address)
        }
    }

    private func waitForAnswer(_ client: MosquittoClient) throws(MQTTFailure) {
        let deadline = ContinuousClock.now + .seconds(options.answerTimeoutSeconds)
        while client.connectAnswer == nil, !stopFlag.isSet {
            let (result, systemError) = turn(client, mayWrite: true, milliseconds: 100)
            if client.connectAnswer != nil { break }
            guard result == 0 else {
                throw .connecting(result, systemError: systemError, complaints: client.complaints, options.address)
            }
            guard ContinuousClock.now < deadline else {
                throw MQTTFailure(
                    .unreachable, options.address, "the broker did not answer within \(Int(options.answerTimeoutSeconds)) s")
            }
        }
        if let answer = client.connectAnswer, answer != 0 { throw .refused(answer, options.address) }
    }

    /// Subscribes to the topics. A broker that kept messages for this client sends them before it answers.
    ///
    /// - Returns: false when the messages are no longer stored
    private func subscribe(_ client: MosquittoClient) throws(MQTTFailure) -> Bool {
        var asked: [(topic: String, number: Int32)] = []
        for topic in options.address.topics {
            let (result, number) = client.subscribe(topic, qualityOfService: options.qualityOfService.rawValue)
            guard result == 0 else { throw lost(client, result, errno) }
            asked.append((topic, number))
        }
        let deadline = ContinuousClock.now + .seconds(options.answerTimeoutSeconds)
        while client.grants.count < asked.count, !stopFlag.isSet {
            let came = client.takeDeliveries()
            if !came.isEmpty { guard offer(.deliveries(came)), output.waitUntilSettled() else { return false } }
            let (result, systemError) = turn(client, mayWrite: true, milliseconds: 100)
            guard result == 0 else { throw lost(client, result, systemError) }
            guard ContinuousClock.now < deadline else {
                throw MQTTFailure(.unreachable, options.address, "the broker did not answer the subscription")
            }
        }
        if stopFlag.isSet { return true }
        // 0x80 is the only refusal of MQTT 3.1.1; any value above the qualities of service is one.
        let refused = asked.filter { (client.grants[$0.number] ?? 0) > 2 }.map(\.topic)
        if !refused.isEmpty, refused.count == asked.count {
            throw MQTTFailure(
                .notPermitted, options.address, "the broker does not permit a subscription to \(refused.joined(separator: ", "))",
                needsPerson: true)
        }
        for topic in refused { report(.refused(topic: topic)) }
        report(.subscribed(topics: options.address.topics.filter { !refused.contains($0) }))
        return true
    }

    /// Reads, passes on and acknowledges until the connection ends.
    private func listen(_ client: MosquittoClient, afterLoss: Bool) -> Outcome {
        let begun = ContinuousClock.now
        var oldestUnstored: ContinuousClock.Instant?
        while true {
            let came = client.takeDeliveries()
            if !came.isEmpty {
                if oldestUnstored == nil, came.contains(where: { $0.qualityOfService > 0 }) { oldestUnstored = .now }
                guard offer(.deliveries(came)) else { return .refusedByStore }
            }
            if stopFlag.isSet { return leave(client) }
            if let since = oldestUnstored {
                if output.isSettled {
                    oldestUnstored = nil
                } else if since.duration(to: .now) > .milliseconds(Int64(Self.longestUnwrittenMilliseconds)) {
                    guard output.waitUntilSettled() else { return .refusedByStore }
                    oldestUnstored = nil
                }
            }
            let isHeld = oldestUnstored != nil
            let (result, systemError) = turn(
                client, mayWrite: !isHeld, milliseconds: isHeld ? Self.longestUnwrittenMilliseconds : Self.idleMilliseconds)
            if result != 0 {
                let rest = client.takeDeliveries()
                if !rest.isEmpty, !offer(.deliveries(rest)) { return .refusedByStore }
                // It is this side that leaves: what is not acknowledged before would come again with each connection.
                if client.isSentUnasked, !acknowledge(client) { return .refusedByStore }
                let isTaken = afterLoss && begun.duration(to: .now) < Self.shortConnection
                return .failed(lost(client, result, systemError, isTaken: isTaken), wasSubscribed: true)
            }
        }
    }

    private func lost(_ client: MosquittoClient, _ result: Int32, _ systemError: Int32, isTaken: Bool = false) -> MQTTFailure {
        guard !client.isSentUnasked else {
            return MQTTFailure(
                .unreachable, options.address, "the broker sends with quality of service 2, which was not asked for")
        }
        return .lost(result, systemError: systemError, options.address, clientID: isTaken ? options.clientID : nil)
    }

    private func leave(_ client: MosquittoClient) -> Outcome {
        guard acknowledge(client) else { return .refusedByStore }
        report(.disconnected)
        return .stopped
    }

    /// Waits until everything is stored, acknowledges it and disconnects.
    /// - Returns: false when the messages are no longer stored
    private func acknowledge(_ client: MosquittoClient) -> Bool {
        guard output.waitUntilSettled() else { return false }
        while client.wantsWrite, client.write() == 0, client.descriptor != nil, client.wantsWrite {
            guard waitForSocket(client, POLLOUT, 1_000) else { break }
        }
        client.disconnect()
        return true
    }

    /// Waits for the network or the wake-up pipe, then reads up to `messagesATurn` messages and, if allowed, writes what is queued.
    private func turn(_ client: MosquittoClient, mayWrite: Bool, milliseconds: Int32) -> (result: Int32, systemError: Int32) {
        guard client.descriptor != nil else { return (MOSQ_ERR_CONN_LOST.rawValue, 0) }
        let writes = mayWrite && client.wantsWrite
        _ = waitForSocket(client, writes ? POLLIN | POLLOUT : POLLIN, milliseconds)
        var result: Int32 = 0
        var countBefore: Int
        repeat {
            countBefore = client.deliveries.count
            errno = 0
            result = client.read()
        } while result == 0 && client.deliveries.count > countBefore && client.deliveries.count < Self.messagesATurn
        if result != 0 { return (result, errno) }
        if mayWrite, client.wantsWrite, client.deliveries.allSatisfy({ $0.qualityOfService == 0 }) {
            errno = 0
            result = client.write()
            if result != 0 { return (result, errno) }
        }
        errno = 0
        result = client.tick()
        return (result, errno)
    }

    private func waitForSocket(_ client: MosquittoClient, _ events: Int32, _ milliseconds: Int32) -> Bool {
        var requests = [
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: client.descriptor ?? -1, events: Int16(events), revents: 0),
        ]
        let count = unsafe poll(&requests, 2, milliseconds)
        if requests[0].revents != 0 { wakeUp.silence() }
        return count > 0 && requests[1].revents != 0
    }

    private func pause(_ seconds: Double) {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !stopFlag.isSet, ContinuousClock.now < deadline {
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            var request = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&request, 1, Int32(max(1, min(left, 60_000)))) > 0 { wakeUp.silence() }
        }
    }
}
