/// How many Unicode scalars of a text count; texts of no more bytes are whole. Devices send fewer (a name has up to 39 bytes, a description 100), so only
/// what nobody's device has sent is cut.
enum TextLimit {
    static let name = 64
    static let description = 256
}
