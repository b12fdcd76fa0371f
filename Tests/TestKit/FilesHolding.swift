import CZstd
public import Foundation

/// The files below a folder that hold one of these bytes, as they are or in a zstd frame, such as the content of a sealed block.
public func filesHolding(_ needles: [Data], below folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
        guard let file = FileManager.default.contents(atPath: folder + "/" + name) else { return false }
        return needles.contains { file.range(of: $0) != nil }
            || frames(in: file).contains { frame in needles.contains { frame.range(of: $0) != nil } }
    }
}

public func filesHolding(_ text: String, below folder: String) throws -> [String] {
    try filesHolding([Data(text.utf8)], below: folder)
}

/// What the zstd frames decompress to that begin anywhere in a file, in use or not.
private func frames(in file: Data) -> [Data] {
    let magic = Data([0x28, 0xb5, 0x2f, 0xfd])
    var (found, rest): ([Data], Range<Data.Index>) = ([], file.startIndex..<file.endIndex)
    while let place = file.range(of: magic, in: rest) {
        rest = place.upperBound..<file.endIndex
        if let content = content(ofFrame: file[place.lowerBound...]) { found.append(content) }
    }
    return found
}

private func content(ofFrame bytes: Data) -> Data? {
    unsafe bytes.withUnsafeBytes { bytes in
        let length = unsafe ZSTD_findFrameCompressedSize(bytes.baseAddress, bytes.count)
        guard ZSTD_isError(length) == 0 else { return nil }
        let size = unsafe ZSTD_getFrameContentSize(bytes.baseAddress, length)
        var content = Data(count: Int(min(size, 64 << 20)))
        let count = unsafe content.withUnsafeMutableBytes { room in
            unsafe ZSTD_decompress(room.baseAddress, room.count, bytes.baseAddress, length)
        }
        return ZSTD_isError(count) == 0 ? content.prefix(count) : nil
    }
}
