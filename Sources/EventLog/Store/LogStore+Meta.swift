internal import LMDB
internal import ProtobufWire

extension LogStore {
    /// - Parameter identifier: 16 random bytes.
    func writeMeta(created: Timestamp, identifier: [UInt8]) throws(StorageError) {
        try environment.write { (write) throws(StorageError) in
            let numbers = Table<String, UInt64>(raw: meta)
            guard try write.get(numbers, "format") == nil else { return }
            try write.put(numbers, "format", UInt64(LogFolder.format))
            try write.put(numbers, "created", UInt64(bitPattern: created.microseconds))
            try write.put(Table<String, [UInt8]>(raw: meta), "identifier", identifier)
        }
    }

    /// Checks the format and returns the log's identifier as hexadecimal digits.
    func checkMeta(path: String) throws(EventLogError) -> String {
        let (format, identifier) = try storing { () throws(StorageError) -> (UInt64?, [UInt8]?) in
            let read = try environment.beginRead()
            return (try metaNumber("format", read), try read.get(Table<String, [UInt8]>(raw: meta), "identifier"))
        }
        guard let format, let identifier else {
            throw EventLogError(.corrupt, path: environment.path, detail: "the log does not state its format")
        }
        guard format <= UInt64(LogFolder.format) else {
            throw EventLogError(
                .newerFormat, path: path, detail: "format \(format); this program reads up to \(LogFolder.format)")
        }
        return Hexadecimal.text(identifier)
    }

    func readSources() throws(EventLogError) -> [EventSource] {
        try storing { () throws(StorageError) in
            var sources: [EventSource] = []
            let read = try environment.beginRead()
            try read.forEach(Table<UInt32, [UInt8]>(raw: self.sources)) { (id, bytes) throws(StorageError) in
                guard let source = EventSource(id: id, bytes: bytes) else { throw .malformed(EventSource.self) }
                sources.append(source)
                return true
            }
            return sources
        }
    }
}
