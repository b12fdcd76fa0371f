import Dispatch
import EventLog
import Glibc
import ProtobufWire
import Synchronization

/// Sends requests to the process that writes to a ledger. One request at a time.
///
/// Synchronization: the socket is used on `queue` only, which waits for answers on behalf of the callers.
final class ControlClient: Sendable {
    /// The process that writes; 0 if it has no number here because it is in another container.
    let holder: Int32
    let path: String
    private let file: Int32
    private let queue = DispatchQueue(label: "meshledger.control.client")
    /// After a failure of the connection, no further requests are sent.
    private let broken = Mutex<ControlError?>(nil)

    /// - Parameters:
    ///   - path: the ledger's folder.
    ///   - waits: whether to wait for a process that is suspended.
    /// - Throws: `.unreachable` if no process listens.
    init(ledger path: String, waitsForSuspended waits: Bool = true) async throws(ControlError) {
        self.path = path
        file = try ControlSocket.connect(to: path)
        guard let process = ControlSocket.trustedPeer(file, of: path) else {
            Glibc.close(file)
            throw ControlError(.unreachable, path: path, "a process of another user is listening")
        }
        holder = process
        guard waits || !ControlSocket.isSuspended(process) else {
            Glibc.close(file)
            throw .silence(of: process, path: path, "it is suspended; resume it with `kill -CONT \(process)`")
        }
        ControlSocket.setTimeLimit(file, SO_RCVTIMEO, seconds: ControlLimits.clientPatience_s)
        do {
            _ = try await call(.hello(lowest: ControlServer.version, highest: ControlServer.version))
        } catch {
            guard case .control(let reason) = error else { throw ControlError(.protocolBroken, path: path) }
            throw reason
        }
    }

    deinit { Glibc.close(file) }

    /// - Throws: the failure that the process reports, `.gone` if it ended before it answered.
    func call(
        _ request: ControlRequest, progress: (@Sendable (ControlProgress) -> Void)? = nil
    ) async throws(ControlFailure) -> ControlAnswer {
        let result: Result<ControlAnswer, ControlFailure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.exchange(request, progress)) }
        }
        return try result.get()
    }

    private func exchange(
        _ request: ControlRequest, _ progress: (@Sendable (ControlProgress) -> Void)?
    ) -> Result<ControlAnswer, ControlFailure> {
        if let broken = broken.withLock({ $0 }) { return .failure(.control(broken)) }
        do throws(ControlError) {
            do throws(ControlError) {
                try send(ControlFrame.bytes(request.bytes))
            } catch {
                // It may have announced earlier that it is closing.
                guard case .failure(.control(let reason)) = try reply(), reason.code == .closing else { throw error }
                throw reason
            }
            while true {
                switch try reply() {
                case .alive: break
                case .progress(let state): progress?(state)
                case .answer(let answer): return .success(answer)
                case .failure(.control(let reason)) where reason.code == .closing: throw reason  // of the connection, for good
                case .failure(let failure): return .failure(failure)
                }
            }
        } catch {
            broken.withLock { $0 = error }
            return .failure(.control(error))
        }
    }

    private func send(_ bytes: [UInt8]) throws(ControlError) {
        var sent = 0
        while sent < bytes.count {
            let start = sent
            let (count, number) = unsafe bytes.withUnsafeBytes { buffer in
                let count = unsafe Glibc.send(
                    file, buffer.baseAddress?.advanced(by: start), buffer.count - start, Int32(MSG_NOSIGNAL))
                return (count, errno)
            }
            if count < 0 && number == EINTR { continue }
            guard count > 0 else { throw failure(number) }
            sent += count
        }
    }

    private func reply() throws(ControlError) -> ControlReply {
        let header = try receive(ControlConnection.headerSize)
        let length = Int(header.rawSpan.littleEndian32(at: 0) ?? 0)
        guard length > 0, length <= ControlLimits().longestFrame else {
            throw ControlError(.protocolBroken, path: path, "a reply of \(length) bytes")
        }
        let body = try receive(length)
        do {
            return try ControlReply(body.rawSpan, path: path)
        } catch {
            throw ControlError(.protocolBroken, path: path, "\(error)")
        }
    }

    private func receive(_ count: Int) throws(ControlError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var (result, number): (Int, Int32) = (0, 0)
            let wanted = min(count - bytes.count, 1 << 20)
            bytes += unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
                result = unsafe recv(file, buffer.baseAddress, wanted, 0)
                number = errno
                initialized = max(result, 0)
            }
            if result < 0 && number == EINTR { continue }
            guard result > 0 else { throw failure(result == 0 ? ECONNRESET : number) }
        }
        return bytes
    }

    private func failure(_ number: Int32) -> ControlError {
        number == EAGAIN
            ? .silence(of: holder, path: path, "it did not respond for \(ControlLimits.clientPatience_s) s")
            : ControlError(.gone, path: path, number: number)
    }
}
