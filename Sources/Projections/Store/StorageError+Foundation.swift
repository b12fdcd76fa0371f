import Foundation
package import LMDB

extension StorageError {
    /// The system's error behind a file error of Foundation, whose own text is for programmers.
    package init(foundation error: any Error, path: String) {
        switch error {
        case let error as StorageError: self = error
        case let error as ViewFolderError: self = error.cause
        default:
            let number = Self.number(error)
            let place = (error as? CocoaError)?.filePath ?? path
            self.init(.init(number: number), call: "file", path: place, number: number)
        }
    }

    /// Whether this is a Foundation error about a file that it could not read or write.
    package static func isOfFile(_ error: any Error) -> Bool {
        let domain = (error as NSError).domain
        return domain == NSCocoaErrorDomain || domain == NSPOSIXErrorDomain
    }

    private static func number(_ error: any Error) -> Int32 {
        if let error = error as? POSIXError { return error.code.rawValue }
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain { return Int32(clamping: error.code) }
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error { return number(cause) }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: return ENOENT
        case .fileReadNoPermission, .fileWriteNoPermission: return EACCES
        case .fileWriteFileExists: return EEXIST
        case .fileWriteOutOfSpace: return ENOSPC
        case .fileWriteVolumeReadOnly: return EROFS
        default: return EIO
        }
    }
}

extension POSIXError {
    init(_ number: Int32) { self.init(Code(rawValue: number) ?? .EIO) }
}
