public import Meshtastic

/// One input of the fuzzer.
public struct FuzzInput: Sendable {
    public var form: CaptureForm
    /// The port of the packet that it was made from; 0 for frames without one.
    public var port: UInt32
    public var bytes: [UInt8]
}
