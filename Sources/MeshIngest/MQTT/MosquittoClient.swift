import CMosquitto
import Foundation

/// A connection of Debian's libmosquitto, driven by one thread that reads, stores and writes in turn.
///
/// The library queues an acknowledgement before it passes on the message, and with `threaded` set it writes only in `write`. So the thread
/// decides: messages that it has read are stored first, then acknowledged.
///
/// Synchronization: only the thread that created it may use it. Safe: the handle is private and freed with the object, and callbacks run inside of its methods.
@safe final class MosquittoClient {
    struct Delivery: Sendable {
        var topic: String
        /// Empty for a message that is too long to be kept.
        var payload: [UInt8]
        /// How long the message was.
        var byteCount: Int
        var qualityOfService: Int32
    }

    /// Longer messages, in bytes, are not mesh traffic: a LoRa packet has at most 256.
    static let longestMessage = 65_535

    private let handle: OpaquePointer
    private let isCleanSession: Bool
    /// The broker's answer to the connection, once it has arrived.
    private(set) var connectAnswer: Int32?
    /// The granted qualities of service by subscription, once they have arrived.
    private(set) var grants: [Int32: Int32] = [:]
    private(set) var deliveries: [Delivery] = []
    /// Whether the broker sends with quality of service 2, which is never asked for: the library keeps such messages until they are released, without limit.
    /// In a session that is kept, another program may have asked for them.
    private(set) var isSentUnasked = false
    /// The first few complaints of the library and OpenSSL during this connection.
    private(set) var complaints: [String] = []
    private static let complaintLimit = 8

    private static let isReady: Int32 = mosquitto_lib_init()

    /// - Returns: nil when memory is exhausted or the client id is not valid
    init?(clientID: String, isCleanSession: Bool) {
        guard Self.isReady == 0, let handle = unsafe mosquitto_new(clientID, isCleanSession, nil) else { return nil }
        unsafe self.handle = handle
        self.isCleanSession = isCleanSession
        unsafe mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        unsafe mosquitto_threaded_set(handle, true)
        setCallbacks()
    }

    deinit { unsafe mosquitto_destroy(handle) }

    func setCredentials(user: String, password: String?) -> Int32 { unsafe mosquitto_username_pw_set(handle, user, password) }

    /// Turns TLS on, with the certificates of a file or else the system's.
    func setTLS(authorities: String?, certificate: String?, key: String?, isInsecure: Bool) -> Int32 {
        var result: Int32
        if authorities != nil {
            result = unsafe mosquitto_tls_set(handle, authorities, nil, certificate, key, nil)
        } else {
            // The folder must be named, or the library refuses; the option adds the system's own file.
            result = unsafe mosquitto_tls_set(handle, nil, "/etc/ssl/certs", certificate, key, nil)
            if result == 0 { result = unsafe mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1) }
        }
        if result == 0, isInsecure {
            result = unsafe mosquitto_tls_opts_set(handle, 0, nil, nil)
            if result == 0 { result = unsafe mosquitto_tls_insecure_set(handle, true) }
        }
        return result
    }

    /// Connects; may block for as long as the system tries.
    func connect(host: String, port: UInt16, keepAliveSeconds: Int) -> (result: Int32, systemError: Int32) {
        connectAnswer = nil
        grants = [:]
        complaints = []
        isSentUnasked = false
        errno = 0
        let result = unsafe mosquitto_connect(handle, host, Int32(port), Int32(keepAliveSeconds))
        return (result, errno)
    }

    /// The socket to wait for; nil without a connection.
    var descriptor: Int32? {
        let descriptor = unsafe mosquitto_socket(handle)
        return descriptor >= 0 ? descriptor : nil
    }

    var wantsWrite: Bool { unsafe mosquitto_want_write(handle) }

    /// Reads one packet if available.
    func read() -> Int32 {
        let result = unsafe mosquitto_loop_read(handle, 1)
        return isSentUnasked ? MOSQ_ERR_PROTOCOL.rawValue : result
    }

    /// Writes what is queued, including acknowledgements.
    func write() -> Int32 { unsafe mosquitto_loop_write(handle, 1) }

    /// Sends keep-alive messages when they are due.
    func tick() -> Int32 { unsafe mosquitto_loop_misc(handle) }

    /// Subscribes to a topic. Its grant will be found under the returned number.
    func subscribe(_ topic: String, qualityOfService: Int32) -> (result: Int32, number: Int32) {
        var number: Int32 = 0
        let result = unsafe mosquitto_subscribe(handle, &number, topic, qualityOfService)
        return (result, number)
    }

    /// Disconnects and waits, up to a second, until the broker has read it.
    ///
    /// A socket that is closed while it holds unread messages is reset, and with it go acknowledgements on their way: the broker would send all
    /// those messages again. So the socket is kept open, under another number, until the broker has closed it.
    func disconnect() {
        let kept = descriptor.map { dup($0) } ?? -1
        _ = unsafe mosquitto_disconnect(handle)
        _ = write()
        guard kept >= 0 else { return }
        shutdown(kept, Int32(SHUT_WR))
        var rest = [UInt8](repeating: 0, count: 65_536)
        let deadline = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < deadline {
            var request = pollfd(fd: kept, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&request, 1, 1_000) > 0, unsafe Foundation.read(kept, &rest, rest.count) > 0 else { break }
        }
        close(kept)
    }

    /// The messages since the last call.
    func takeDeliveries() -> [Delivery] {
        defer { deliveries.removeAll(keepingCapacity: true) }
        return deliveries
    }

    static func text(_ code: Int32) -> String { unsafe String(cString: mosquitto_strerror(code)) }

    static func isTopic(_ text: String) -> Bool { unsafe mosquitto_sub_topic_check(text) == 0 }

    private static func client(_ object: UnsafeMutableRawPointer?) -> MosquittoClient? {
        unsafe object.map { unsafe Unmanaged<MosquittoClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func setCallbacks() {
        unsafe mosquitto_connect_callback_set(handle) { _, object, code in
            unsafe MosquittoClient.client(object)?.connectAnswer = code
        }
        unsafe mosquitto_subscribe_callback_set(handle) { _, object, number, count, granted in
            guard let granted = unsafe granted, count > 0 else { return }
            unsafe MosquittoClient.client(object)?.grants[number] = granted[0]
        }
        unsafe mosquitto_message_callback_set(handle) { _, object, message in
            guard let message = unsafe message?.pointee, let topic = unsafe message.topic else { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: message.payload, count: Int(max(0, message.payloadlen)))
            let isKept = bytes.count <= MosquittoClient.longestMessage
            let delivery = unsafe Delivery(
                topic: String(cString: topic), payload: isKept ? Array(bytes) : [], byteCount: bytes.count,
                qualityOfService: message.qos)
            unsafe MosquittoClient.client(object)?.deliveries.append(delivery)
        }
        unsafe mosquitto_log_callback_set(handle) { _, object, level, text in
            guard let text = unsafe text else { return }
            if level == MOSQ_LOG_DEBUG, unsafe MosquittoClient.isOfQuality2(text),
                let client = unsafe MosquittoClient.client(object), client.isCleanSession
            {
                client.isSentUnasked = true
            }
            guard level & (MOSQ_LOG_ERR | MOSQ_LOG_WARNING) != 0 else { return }
            let complaint = unsafe String(cString: text)
            guard let client = unsafe MosquittoClient.client(object), client.complaints.count < MosquittoClient.complaintLimit
            else { return }
            client.complaints.append(complaint)
        }
    }

    /// Whether a line of the library is about a message that came with quality of service 2: `Client … received PUBLISH (d0, q2, …`.
    @unsafe private static func isOfQuality2(_ line: UnsafePointer<CChar>) -> Bool {
        let words = unsafe UnsafeRawPointer(received.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let start = unsafe strstr(line, words) else { return false }
        let rest = unsafe start + received.utf8CodeUnitCount
        return unsafe strncmp(rest, "0, q2", 5) == 0 || strncmp(rest, "1, q2", 5) == 0
    }

    private static let received: StaticString = " received PUBLISH (d"
}
