import Foundation

/// What the shim recorded of all files and folders.
struct FolderTrace {
    enum Call {
        case makeFile(String)
        case makeFolder(String)
        case rename(String, String)
        case remove(String)
        case write(String, offset: Int, bytes: ArraySlice<UInt8>, isSynced: Bool)
        case resize(String, Int, onlyGrows: Bool)
        case sync(String)
        /// What had been reported to a caller by then.
        case acknowledged(Set<UInt64>)
    }

    private(set) var calls: [Call] = []

    init(_ path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        func number(_ offset: Int, _ length: Int) -> Int { (0..<length).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
        var names: [Int: String] = [:]
        var place = 0
        while place + 24 <= bytes.count {
            let (kind, path, offset, length) = (bytes[place], number(place + 2, 4), number(place + 8, 8), number(place + 16, 8))
            place += 24
            var content: ArraySlice<UInt8> = []
            if [1, 5, 6, 7].contains(kind) {
                content = bytes[place..<place + length]
                place += length
            }
            let name = names[path] ?? ""
            switch kind {
            case 5:
                let numbers = String(decoding: content, as: UTF8.self).split(separator: "\n").compactMap { UInt64($0) }
                calls.append(.acknowledged(Set(numbers)))
            case 7: names[path] = String(decoding: content, as: UTF8.self)
            case 2 where names[path] != nil: calls.append(.sync(name))  // also of the folder itself, which has no name
            case _ where name.isEmpty: continue  // of files that mean nothing later
            case 1, 6: calls.append(.write(name, offset: offset, bytes: content, isSynced: kind == 6))
            case 3: calls.append(.resize(name, length, onlyGrows: false))
            case 4: calls.append(.resize(name, offset + length, onlyGrows: true))
            case 8: if let to = names[offset] { calls.append(.rename(name, to)) }
            case 9, 12: calls.append(.remove(name))
            case 10: calls.append(.makeFile(name))
            case 11: calls.append(.makeFolder(name))
            default: throw Failure("the trace is garbled")
            }
        }
    }
}
