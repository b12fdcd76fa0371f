/// How a broker is listened to.
public struct MQTTOptions: Sendable {
    /// How surely messages come: as they are sent at most, or until the ledger has stored them.
    public enum QualityOfService: Int32, Sendable, CaseIterable {
        case atMostOnce = 0
        case atLeastOnce = 1
    }

    public var address: MQTTAddress
    public var qualityOfService = QualityOfService.atMostOnce
    /// How the broker knows this client; nil for a name of its own each time.
    public var clientID: String?
    /// Whether the broker keeps messages for this client while it is away: needs `clientID` and quality of service 1.
    public var keepsSession = false
    /// Seconds between signs of life, at least 5.
    public var keepAliveSeconds = 60
    /// A PEM file of the certificates that sign brokers trusted; nil for the system's.
    public var certificateAuthorityFile: String?
    /// PEM files of this client's certificate and its key, where the broker asks for one.
    public var certificateFile: String?
    public var keyFile: String?
    /// Takes any certificate for any host: for tests only, since anybody in between can read and change the messages then.
    public var isInsecure = false
    /// Seconds until the first new attempt when the connection is lost; each failure doubles it.
    public var firstRetrySeconds = 1.0
    /// The most seconds between attempts.
    public var longestRetrySeconds = 60.0
    /// Seconds that the broker has to answer.
    public var answerTimeoutSeconds = 20.0
    /// How many messages may wait to be stored before the connection is not read any more.
    public var queueLimit = 65_536
    /// How many bytes may wait to be stored, or be under way, before the connection is not read any more: the memory of an ingest whose ledger has no room.
    public var queueByteLimit = 64 << 20

    public init(_ address: MQTTAddress) { self.address = address }

    func check() throws(IngestError) {
        if !(5...65_535).contains(keepAliveSeconds) { throw bad("the keep-alive is between 5 and 65,535 seconds") }
        if keepsSession, clientID == nil || qualityOfService == .atMostOnce {
            throw bad("a broker keeps messages only for a client with an id and with quality of service 1")
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
