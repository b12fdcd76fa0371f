import Foundation

/// The command line of this process as the system shows it to every user, for example in `ps`.
enum ProcessList {
    /// Replaces the passwords in it: they have been read by then.
    static func hidePasswords() {
        guard CommandLine.arguments.contains(where: { password(in: Array($0.utf8)) != nil }), let bytes = unsafe shown() else {
            return
        }
        var start = 0
        while start < bytes.count {
            let end = unsafe bytes[start...].firstIndex(of: 0) ?? bytes.count
            if let places = unsafe password(in: Array(bytes[start..<end])) {
                for place in places { unsafe bytes[start + place] = UInt8(ascii: "x") }
            }
            start = end + 1
        }
    }

    /// Where the password is in an address such as `mqtt://user:password@host`.
    private static func password(in argument: [UInt8]) -> Range<Int>? {
        guard let mark = argument.firstRange(of: Array("://".utf8)) else { return nil }
        let end = argument[mark.upperBound...].firstIndex(of: UInt8(ascii: "/")) ?? argument.endIndex
        guard let at = argument[mark.upperBound..<end].lastIndex(of: UInt8(ascii: "@")),
            let colon = argument[mark.upperBound..<at].firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return colon + 1..<at
    }

    /// The memory from which the system takes it: the arguments as the process began, each ended by a zero.
    private static func shown() -> UnsafeMutableRawBufferPointer? {
        let facts = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)  // without /proc nobody reads them
        // Spaces are also in the program's name, which ends with a parenthesis.
        guard let facts, let name = facts.lastIndex(of: ")") else { return nil }
        // Fields 48 and 49, of which the third one follows the name: see proc(5).
        let fields = facts[name...].dropFirst(2).split(separator: " ")
        guard fields.count > 46, let start = UInt(fields[45]), let end = UInt(fields[46]), start < end else { return nil }
        return unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: start), count: Int(end - start))
    }
}
