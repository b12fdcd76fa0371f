/// What a client may take of the process that writes: whatever clients do, it goes on.
struct ControlLimits: Sendable {
    /// The most bytes of one frame's body.
    var longestFrame = 32 << 20
    /// The most bytes of a body before the client has greeted.
    var longestGreeting = 4 << 10
    /// The most bytes of frames that are being received or worked on, over all clients. One frame always goes on, however full it is.
    var mostBytes = 64 << 20
    var mostClients = 32
    /// How long a client may take to greet, and to go on with a frame that it has begun.
    var patience = Duration.seconds(10)
    /// How long a client that asks for nothing keeps its place when others want it.
    var idleTime = Duration.seconds(10)
    /// How long a client may leave its answer unread.
    var unreadTime = Duration.seconds(30)
    /// How often a client that waits for an answer is told that work goes on.
    var aliveInterval = Duration.seconds(2)
    /// How long a client waits for a sign of life.
    static let clientPatience_s = 30
}
