/// How many Unicode scalars of a text are kept; a text with no more bytes is kept whole. Devices send less (a name has up to 39 bytes, a
/// description 100), so only texts that no device has sent are truncated.
enum TextLimit {
    static let name = 64
    static let description = 256
}
