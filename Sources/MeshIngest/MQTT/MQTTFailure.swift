import CMosquitto
import Foundation

/// Why a connection failed or was lost.
///
/// Permanent failures of the first connection are an unknown host, a refused user or client, an untrusted certificate, or all subscriptions refused: they
/// need a person. A broker that does not answer is always tried again. After subscriptions were granted once, every failure is retried, since brokers are
/// restarted and name servers may be unavailable for a while.
struct MQTTFailure: Error, Sendable {
    var error: IngestError
    /// Whether retrying the first connection is pointless.
    var needsPerson: Bool

    init(_ code: IngestError.Code, _ address: MQTTAddress, _ reason: String, cause: String? = nil, needsPerson: Bool = false) {
        error = IngestError(code, subject: address.text, reason: reason, cause: cause)
        self.needsPerson = needsPerson
    }

    /// The failure behind a result of the library before the broker has answered.
    static func connecting(_ result: Int32, systemError: Int32, complaints: [String], _ address: MQTTAddress) -> MQTTFailure {
        if address.usesTLS, complaints.contains(where: isAboutTLS) { return tls(complaints, address) }
        switch result {
        case MOSQ_ERR_EAI.rawValue:
            let text = unsafe String(cString: gai_strerror(systemError))
            return MQTTFailure(.notFound, address, "the host \(address.host) is not known", cause: text, needsPerson: true)
        case MOSQ_ERR_TLS.rawValue: return tls(complaints, address)
        case MOSQ_ERR_ERRNO.rawValue where systemError != 0:
            return MQTTFailure(.unreachable, address, "the broker cannot be reached", cause: errorText(systemError))
        case MOSQ_ERR_INVAL.rawValue:
            return MQTTFailure(
                .badRequest, address, "the MQTT library rejects the address or an option", needsPerson: true)
        default:
            let hint = address.usesTLS ? "" : " (does it expect TLS? then the address begins with mqtts://)"
            return MQTTFailure(
                .unreachable, address, "the broker closed the connection without an answer\(hint)", cause: cause(result, 0))
        }
    }

    /// The failure behind a connection that was lost after the broker had accepted it.
    /// - Parameter clientID: the one that was chosen, if another program may use it: a broker ends the first of two connections with one id.
    static func lost(_ result: Int32, systemError: Int32, _ address: MQTTAddress, clientID: String?) -> MQTTFailure {
        let cause = cause(result, systemError)
        let guess = cause == nil ? clientID.map { "; another program with the client id \($0) may have taken it" } ?? "" : ""
        return MQTTFailure(.unreachable, address, "the connection was lost\(guess)", cause: cause)
    }

    /// The part of a library result that says more than that the connection was lost.
    private static func cause(_ result: Int32, _ systemError: Int32) -> String? {
        switch result {
        case MOSQ_ERR_CONN_LOST.rawValue, MOSQ_ERR_NO_CONN.rawValue, MOSQ_ERR_UNKNOWN.rawValue: nil
        case MOSQ_ERR_ERRNO.rawValue: systemError == 0 ? nil : errorText(systemError)
        case MOSQ_ERR_KEEPALIVE.rawValue: "the broker stopped answering"
        default: MosquittoClient.text(result)
        }
    }

    /// The failure behind an answer other than 0 to CONNECT (MQTT 3.1.1, section 3.2.2.3).
    static func refused(_ answer: Int32, _ address: MQTTAddress) -> MQTTFailure {
        let user = address.user.map { "user \($0)" } ?? "a client without user and password"
        return switch answer {
        case 1: MQTTFailure(.unreachable, address, "the broker does not speak MQTT 3.1.1", needsPerson: true)
        case 2: MQTTFailure(.notAuthorized, address, "the broker refuses this client id", needsPerson: true)
        case 3: MQTTFailure(.unreachable, address, "the broker is not available now")
        case 4: MQTTFailure(.notAuthorized, address, "wrong user name or password for \(user)", needsPerson: true)
        case 5:
            MQTTFailure(
                .notAuthorized, address, "the broker refuses \(user): wrong password, or not authorized", needsPerson: true)
        default: MQTTFailure(.unreachable, address, "the broker refused the connection with code \(answer)", needsPerson: true)
        }
    }

    private static func isAboutTLS(_ complaint: String) -> Bool {
        ["OpenSSL", "SSL routines", "certificate", "host name"].contains { complaint.contains($0) }
    }

    private static func tls(_ complaints: [String], _ address: MQTTAddress) -> MQTTFailure {
        func says(_ text: String) -> Bool { complaints.contains { $0.contains(text) } }
        let cause = complaints.first { $0.contains("::") }.map { String($0.split(separator: "::").last ?? "") }
        let reason =
            if says("host name verification failed") {
                "the broker's certificate is for another host than \(address.host)"
            } else if says("certificate verify failed") {
                "the broker's certificate is not trusted: name the file of its authority, unless the certificate has expired"
            } else if says("alert") {
                "the broker refused this client's certificate, or wants one"
            } else if says("no certificate or crl found") {
                "the file of the authority (ca-file) has no certificate in PEM form"
            } else {
                "no TLS connection could be made; does the broker speak TLS on this port?"
            }
        return MQTTFailure(.notTrusted, address, reason, cause: cause, needsPerson: true)
    }
}
