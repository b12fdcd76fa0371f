import Foundation
import Glibc
import LMDB

/// A recording from a pipe, in a file of the ledger's folder that the writing process can read.
///
/// It is locked while it is needed, so that files of killed processes are recognised: they contain events, including ones that are erased later.
struct SpooledRecording {
    private static let prefix = "import-"

    let path: String
    private let file: Int32

    /// Copies everything from a descriptor into a new file.
    init(_ descriptor: Int32, in ledger: String) throws {
        while true {
            let path = "\(ledger)/\(Self.prefix)\(UUID().uuidString)"
            let file = try OwnedFile.open(path, O_WRONLY | O_CREAT | O_EXCL)
            var status = stat()
            guard flock(file, LOCK_EX) == 0, unsafe fstat(file, &status) == 0, status.st_nlink > 0 else {
                Glibc.close(file)  // it was considered abandoned before it was locked
                continue
            }
            (self.path, self.file) = (path, file)
            break
        }
        do {
            let input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            let output = FileHandle(fileDescriptor: file, closeOnDealloc: false)
            while let chunk = try input.read(upToCount: 1 << 20), !chunk.isEmpty { try output.write(contentsOf: chunk) }
        } catch {
            remove()
            throw error
        }
    }

    func remove() {
        try? OwnedFile.remove(path)  // a later writer removes it
        close(file)
    }

    /// Removes the files in a ledger's folder that no process has locked.
    static func removeAbandoned(in ledger: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ledger)) ?? []  // reported when it is opened
        for name in names where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            let path = ledger + "/" + name
            guard let file = try? OwnedFile.open(path, O_RDWR) else { continue }  // not one of our files
            if flock(file, LOCK_EX | LOCK_NB) == 0 { try? OwnedFile.remove(path) }  // the next writer tries again
            close(file)
        }
    }
}
