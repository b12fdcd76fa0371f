/// Options for listening to a broker.
public struct MQTTOptions: Sendable, Equatable {
    /// How reliably messages are delivered: at most once, or until the ledger has stored them.
    public enum QualityOfService: Int32, Sendable, CaseIterable {
        case atMostOnce = 0
        case atLeastOnce = 1
    }

    public var address: MQTTAddress
    public var qualityOfService = QualityOfService.atMostOnce
    /// The client id at the broker; nil for a new one each time.
    public var clientID: String?
    /// Whether the broker keeps messages for this client while it is away: requires `clientID` and quality of service 1.
    public var keepsSession = false
    /// Seconds between keep-alive messages, at least 5.
    public var keepAliveSeconds = 60
    /// A PEM file of the certificates that sign trusted brokers; nil for the system's.
    public var certificateAuthorityFile: String?
    /// PEM files of this client's certificate and its key, if the broker requires them.
    public var certificateFile: String?
    public var keyFile: String?
    /// Accepts any certificate for any host: for tests only, since anyone in between can then read and change the messages.
    public var isInsecure = false
    /// Seconds until the first retry after the connection is lost; each failure doubles it.
    public var firstRetrySeconds = 1.0
    /// The maximum number of seconds between attempts.
    public var longestRetrySeconds = 60.0
    /// The answer timeout of the broker, in seconds.
    public var answerTimeoutSeconds = 20.0
    /// How many messages may wait to be stored before the connection is no longer read.
    public var queueLimit = 65_536
    /// How many bytes may wait to be stored, or be in the process of it, before the connection is no longer read. It bounds memory while the ledger has no
    /// space.
    public var queueByteLimit = 8 << 20

    public init(_ address: MQTTAddress) { self.address = address }

    /// - Throws: `.badRequest` for options that no broker can serve
    package func check() throws(IngestError) {
        if !(5...65_535).contains(keepAliveSeconds) { throw bad("the keep-alive is between 5 and 65,535 seconds") }
        if keepsSession, clientID == nil || qualityOfService == .atMostOnce {
            throw bad("a broker keeps messages only for a client with an id and with quality of service 1")
        }
        for topic in address.topics where !MosquittoClient.isTopic(topic) {
            throw bad("\(topic) is not a topic that can be subscribed to")
        }
        if (certificateFile == nil) != (keyFile == nil) {
            throw bad("a client certificate needs its key, and a key its certificate")
        }
        if address.password != nil, address.user == nil { throw bad("a password needs a user") }
        let usesFiles = certificateAuthorityFile != nil || certificateFile != nil
        if !address.usesTLS, usesFiles || isInsecure { throw bad("certificates need TLS: the address begins with mqtts://") }
    }

    private func bad(_ reason: String) -> IngestError { IngestError(.badRequest, subject: address.text, reason: reason) }
}
