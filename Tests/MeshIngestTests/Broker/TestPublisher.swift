import CMosquitto
import Foundation
import Synchronization

/// Publishes through libmosquitto, with a thread of the library's. Safe: the handle is private and freed with the object.
@safe final class TestPublisher {
    private let handle: OpaquePointer
    private var published = 0
    private let acknowledged = Atomic(0)

    init(port: UInt16, user: String? = nil, password: String? = nil) throws {
        _ = mosquitto_lib_init()
        guard let handle = unsafe mosquitto_new(nil, true, nil) else { throw BrokerFailure("no memory") }
        unsafe self.handle = handle
        if user != nil { unsafe mosquitto_username_pw_set(handle, user, password) }
        unsafe mosquitto_max_inflight_messages_set(handle, 1_000)
        unsafe mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        unsafe mosquitto_publish_callback_set(handle) { _, object, _ in
            guard let object = unsafe object else { return }
            unsafe Unmanaged<TestPublisher>.fromOpaque(object).takeUnretainedValue().acknowledged.add(1, ordering: .relaxed)
        }
        guard unsafe mosquitto_connect(handle, "127.0.0.1", Int32(port), 60) == 0, unsafe mosquitto_loop_start(handle) == 0 else {
            throw BrokerFailure("the publisher cannot connect")
        }
    }

    /// What was published has arrived, or ten seconds have passed.
    deinit {
        _ = waits(seconds: 10)
        unsafe mosquitto_disconnect(handle)
        unsafe mosquitto_loop_stop(handle, false)
        unsafe mosquitto_destroy(handle)
    }

    func publish(_ payload: [UInt8], to topic: String, qos: Int32 = 1, retain: Bool = false) throws {
        let result = unsafe mosquitto_publish(handle, nil, topic, Int32(payload.count), payload, qos, retain)
        guard result == 0 else { throw BrokerFailure("publishing failed with \(result)") }
        published += 1
    }

    /// Until the broker has acknowledged all that was published: what only waits to be sent would be lost with the connection.
    func drain() throws {
        guard waits(seconds: 600) else {
            throw BrokerFailure("the broker acknowledged \(acknowledged.load(ordering: .relaxed)) of \(published) messages")
        }
    }

    private func waits(seconds: Int) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while acknowledged.load(ordering: .relaxed) < published {
            guard ContinuousClock.now < end else { return false }
            usleep(10_000)
        }
        return true
    }
}
