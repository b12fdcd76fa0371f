/// How many Unicode scalars of a text count; texts of no more bytes are kept whole. Devices send fewer (a name has up to 39 bytes, a description 100), so only
/// texts that no device has sent are truncated.
enum TextLimit {
    static let name = 64
    static let description = 256
}
