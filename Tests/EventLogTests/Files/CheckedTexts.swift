import Foundation
import Glibc
import LMDB
import TestKit
import Testing

@testable import EventLog

/// The small text files of a ledger.
struct CheckedTexts {
    @Test func `a text with a checksum comes back without it, and a text without one as it is`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/text"
        #expect(try CheckedText.read(path) == nil)
        for text in ["", "a\n", "format 2\ngeneration 1\n", "é\n\n", "checksum 1\n"] {
            try CheckedText.replace(path, with: text)
            #expect(try CheckedText.read(path) == text)
            #expect(try SmallFile.read(path).hasPrefix(text + "checksum ") && SmallFile.size(path) == text.utf8.count + 26)
        }
        for text in ["", "\n", "a", "a\n", "a\nb\n", "checksu 1\n", "a\nchecksum 1", "checksum 1\na\n"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(try CheckedText.read(path) == text)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["text"])
    }

    @Test func `a file that is cut short, or empty, is refused where a number in it would be another one`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/text"
        #expect(try CheckedText.readWhole(path) == nil)
        try CheckedText.replace(path, with: "older-than-seconds 7776000\n")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try CheckedText.readWhole(path) == "older-than-seconds 7776000\n")
        for count in 0..<bytes.count where count != 27 {
            try bytes.prefix(count).write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: EventLogError.self, "\(count)") { _ = try CheckedText.readWhole(path) }
            #expect(error?.code == .corrupt)
        }
        // As an earlier version wrote it.
        try bytes.prefix(27).write(to: URL(fileURLWithPath: path))
        #expect(try CheckedText.readWhole(path) == "older-than-seconds 7776000\n")
    }

    @Test func `a flipped bit of a text or its checksum is found, or leaves a last line that no text has`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/text"
        let text = "format 2\ngeneration 1\n"
        try CheckedText.replace(path, with: text)
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let word = text.utf8.count..<text.utf8.count + "checksum ".utf8.count
        for place in bytes.indices {
            var flipped = bytes
            flipped[place] ^= 4
            try Data(flipped).write(to: URL(fileURLWithPath: path))
            if word.contains(place) || [word.lowerBound - 1, bytes.count - 1].contains(place) {
                #expect(try CheckedText.read(path) == String(decoding: flipped, as: UTF8.self), "\(place)")
            } else {
                let error = #expect(throws: EventLogError.self, "\(place)") { _ = try CheckedText.read(path) }
                #expect(error?.code == .corrupt && error?.path == path)
            }
        }
        for end in ["checksum \n", "checksum 0\n", "checksum 0000000000000000\n", "checksum\n"] {
            try Data((text + end).utf8).write(to: URL(fileURLWithPath: path))
            if end == "checksum\n" {
                #expect(try CheckedText.read(path) == text + end)
            } else {
                #expect(throws: EventLogError.self, "\(end)") { _ = try CheckedText.read(path) }
            }
        }
    }

    @Test func `a text that is too large is refused, not cut`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/text"
        for (count, isChecked) in [(65_536, false), (65_537, false), (65_536 - 26, true), (65_537 - 26, true), (1 << 20, true)] {
            let text = String(repeating: "lines\n", count: count / 6) + String(repeating: "\n", count: count % 6)
            if isChecked {
                try CheckedText.replace(path, with: text)
            } else {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            }
            if try SmallFile.size(path) <= CheckedText.largest {
                #expect(try CheckedText.read(path) == text, "\(count)")
            } else {
                let error = #expect(throws: EventLogError.self, "\(count)") { _ = try CheckedText.read(path) }
                #expect(error?.code == .corrupt && error?.detail?.contains("65536 bytes") == true)
            }
        }
    }

    @Test func `files and folders are synced, measured and given modes only where they are what they have to be`() throws {
        let folder = try TemporaryFolder()
        let (path, none) = (folder.path + "/text", folder.path + "/none")
        try Data("a\n".utf8).write(to: URL(fileURLWithPath: path))
        try SmallFile.syncFolder(folder.path)
        try SmallFile.requireFolder(folder.path)
        try SmallFile.requireFolder(none)
        #expect(try SmallFile.size(path) == 2)
        var status = stat()
        for mode in [0o640, 0o600, 0o777] as [mode_t] {
            let changed = unsafe (chmod(path, mode), chmod(folder.path, 0o700))
            #expect(changed == (0, 0))
            try SmallFile.copyRights(of: path, to: folder.path)
            let found = unsafe stat(folder.path, &status)
            #expect(found == 0 && status.st_mode & 0o7777 == mode)
        }
        let refused: [(EventLogError.Code, () throws -> Void)] = [
            (.missing, { try SmallFile.syncFolder(path) }), (.missing, { try SmallFile.syncFolder(none) }),
            (.foreign, { try SmallFile.requireFolder(path) }), (.foreign, { _ = try SmallFile.read(folder.path) }),
            (.missing, { _ = try SmallFile.size(none) }), (.missing, { try SmallFile.copyRights(of: none, to: path) }),
            (.missing, { try SmallFile.copyRights(of: path, to: none) }), (.missing, { _ = try SmallFile.read(none) }),
        ]
        for (place, (code, body)) in refused.enumerated() {
            let error = #expect(throws: EventLogError.self, "\(place)") { try body() }
            #expect(error?.code == code, "\(place)")
        }
    }

    @Test func `errors of the system have the codes of what they mean to a reader of the message`() {
        let codes: [(Int32, EventLogError.Code)] = [
            (ENOENT, .missing), (ENOTDIR, .missing), (EACCES, .permission), (EPERM, .permission), (EROFS, .readOnly),
            (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EPIPE, .readerGone), (EMFILE, .storage), (ENFILE, .storage),
            (EIO, .storage),
        ]
        for (number, code) in codes {
            let error = SmallFile.failure(number, "/a")
            #expect(error.code == code && error.path == "/a", "\(number)")
            #expect((error.cause != nil) == [EMFILE, ENFILE].contains(number), "\(number)")
            let isMissing = [ENOENT, ENOTDIR].contains(number)
            #expect(SmallFile.failureToMake(number, "/a").code == (isMissing ? .cannotCreate : code), "\(number)")
            let ofStore = StorageError(.inputOutput, call: "open", path: "/b", number: number)
            #expect(SmallFile.failure(ofStore).code == code && SmallFile.failure(ofStore).path == "/b")
            let foreign = SmallFile.failure(StorageError(.foreign, call: "it is a folder", path: "/b", number: number))
            #expect(foreign.code == .foreign)
        }
        #expect(SmallFile.failure(StorageError(.corrupt, call: "x", path: "/b")).code == .corrupt)
    }
}
