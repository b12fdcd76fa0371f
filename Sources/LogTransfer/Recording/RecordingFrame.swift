internal import EventLog

/// The parts of a recording, as `RECORDING.md` describes them.
enum RecordingFrame: String, Sendable {
    case head = "head"
    case sources = "srcs"
    case tiles = "tile"
    case salts = "salt"
    case origins = "orig"
    case block = "blck"
    case cursors = "curs"
    case note = "note"
    case end = "end "

    static let magic = Array("MeshLedger rec 1".utf8)
    static let headerSize = 16
    /// The longest content: a block with the largest payload that a log accepts fits.
    static let largest = 96 << 20
}
