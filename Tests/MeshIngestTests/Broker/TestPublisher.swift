import CMosquitto
import Foundation

/// Publishes through libmosquitto, with a thread of the library's. Safe: the handle is private and freed with the object.
@safe final class TestPublisher {
    private let handle: OpaquePointer

    init(port: UInt16, user: String? = nil, password: String? = nil) throws {
        _ = mosquitto_lib_init()
        guard let handle = unsafe mosquitto_new(nil, true, nil) else { throw BrokerFailure("no memory") }
        unsafe self.handle = handle
        if user != nil { unsafe mosquitto_username_pw_set(handle, user, password) }
        unsafe mosquitto_max_inflight_messages_set(handle, 1_000)
        guard unsafe mosquitto_connect(handle, "127.0.0.1", Int32(port), 60) == 0, unsafe mosquitto_loop_start(handle) == 0 else {
            throw BrokerFailure("the publisher cannot connect")
        }
    }

    deinit {
        unsafe mosquitto_disconnect(handle)
        unsafe mosquitto_loop_stop(handle, false)
        unsafe mosquitto_destroy(handle)
    }

    func publish(_ payload: [UInt8], to topic: String, qos: Int32 = 1, retain: Bool = false) throws {
        let result = unsafe mosquitto_publish(handle, nil, topic, Int32(payload.count), payload, qos, retain)
        guard result == 0 else { throw BrokerFailure("publishing failed with \(result)") }
    }

    /// Until all that was published was written, or for ten seconds.
    func drain() {
        for _ in 0..<500 where unsafe mosquitto_want_write(handle) { usleep(20_000) }
    }
}
