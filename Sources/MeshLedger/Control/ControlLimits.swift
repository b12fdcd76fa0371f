/// The resources that clients may use in the process that writes, so that it works whatever they do.
struct ControlLimits: Sendable {
    /// The most bytes of one frame's body.
    var longestFrame = 32 << 20
    /// The most bytes of a body before the client has greeted.
    var longestGreeting = 4 << 10
    /// The most bytes of frames that are being received or processed, over all clients. One frame can always proceed, regardless of the total.
    var mostBytes = 64 << 20
    var mostClients = 32
    /// How long a client may take to send its greeting, and to continue a frame that it has begun.
    var patience = Duration.seconds(10)
    /// How long an idle client keeps its slot when others need it.
    var idleTime = Duration.seconds(10)
    /// How long a client may leave its answer unread.
    var unreadTime = Duration.seconds(30)
    /// How often a client that waits for an answer is sent a sign that work continues.
    var aliveInterval = Duration.seconds(2)
    /// How long a client waits for a sign that work continues.
    static let clientPatience_s = 30
}
