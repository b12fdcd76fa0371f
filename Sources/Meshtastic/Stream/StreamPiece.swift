/// A part of the byte stream between a radio and its client.
public struct StreamPiece: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// The body of a frame, header not included: a FromRadio or a ToRadio message.
        case frame
        /// The radio's console text, which it writes between frames: a line, or less if a frame follows.
        case text
        /// Bytes that are neither.
        case noise
    }

    public var kind: Kind
    /// The bytes: for a frame without its header.
    public var bytes: [UInt8]
    /// Where the piece begins (for a frame its header), in bytes from the start of the stream.
    public var offset: Int

    public init(kind: Kind, bytes: [UInt8], offset: Int) {
        self.kind = kind
        self.bytes = bytes
        self.offset = offset
    }

    /// Where the piece ends.
    public var endOffset: Int { offset + bytes.count + (kind == .frame ? StreamFramer.headerLength : 0) }

    /// The bytes as text, each ill-formed part of its UTF-8 replaced by U+FFFD.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
