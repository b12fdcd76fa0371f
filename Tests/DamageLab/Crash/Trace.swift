import Foundation

/// What the shim recorded.
struct Trace {
    enum Call {
        /// A write; `isSynced` where it is durable when it returns.
        case write(offset: Int, bytes: ArraySlice<UInt8>, isSynced: Bool)
        case sync
        case truncate(Int)
        case allocate(end: Int)
        /// What had been reported to a caller by then.
        case acknowledged(Set<UInt64>)
    }

    let calls: [Call]

    init(_ path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        func number(_ offset: Int) -> Int { (0..<8).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
        var calls: [Call] = []
        var place = 0
        while place + 24 <= bytes.count {
            let (kind, offset, length) = (bytes[place], number(place + 8), number(place + 16))
            place += 24
            switch kind {
            case 1, 5, 6:
                let content = bytes[place..<place + length]
                place += length
                if kind == 5 {
                    let numbers = String(decoding: content, as: UTF8.self).split(separator: "\n").compactMap { UInt64($0) }
                    calls.append(.acknowledged(Set(numbers)))
                } else {
                    calls.append(.write(offset: offset, bytes: content, isSynced: kind == 6))
                }
            case 2: calls.append(.sync)
            case 3: calls.append(.truncate(length))
            case 4: calls.append(.allocate(end: offset + length))
            default: throw Failure("the trace is garbled")
            }
        }
        self.calls = calls
    }
}
