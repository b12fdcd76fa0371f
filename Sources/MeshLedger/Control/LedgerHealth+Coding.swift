import EventLog
import ProtobufWire

/// Its form on the control socket; `CONTROL.md` lists the fields.
extension LedgerHealth {
    var bytes: [UInt8] {
        var writer = WireWriter()
        writer.varint(1, UInt64(clamping: log.sizeLimit))
        writer.varint(2, UInt64(clamping: log.logBytes))
        writer.varint(3, UInt64(clamping: log.otherBytes))
        writer.varint(4, log.slowedCommits)
        writer.varint(5, log.failedCommits)
        if let failure = log.lastFailure { writer.string(6, failure) }
        writer.bool(7, log.isDegraded)
        writer.bool(8, log.areWritesClosed)
        writer.varint(9, log.clearedReaders)
        for reader in log.readers {
            writer.message(10) { message in
                message.int32(1, reader.process)
                message.string(2, reader.file)
                message.varint(3, UInt64(clamping: reader.commitsBehind))
                if let duration = reader.duration { message.varint(4, UInt64(clamping: Int64(duration / .milliseconds(1)))) }
            }
        }
        writer.varint(11, failedFolds)
        if let foldFailure { writer.string(12, foldFailure) }
        if let foldedThrough { writer.varint(13, foldedThrough) }
        return writer.bytes
    }

    init(_ bytes: RawSpan, process: Int32) throws(WireError) {
        self.init(process: process, log: LogHealth(sizeLimit: 0))
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: log.sizeLimit = Int(clamping: field.scalar)
            case 2: log.logBytes = Int(clamping: field.scalar)
            case 3: log.otherBytes = Int(clamping: field.scalar)
            case 4: log.slowedCommits = field.scalar
            case 5: log.failedCommits = field.scalar
            case 6: log.lastFailure = reader.string(field)
            case 7: log.isDegraded = field.asBool
            case 8: log.areWritesClosed = field.asBool
            case 9: log.clearedReaders = field.scalar
            case 10: log.readers.append(try LogReading(control: reader.bytes(field)))
            case 11: failedFolds = field.scalar
            case 12: foldFailure = reader.string(field)
            case 13: foldedThrough = field.scalar
            default: break
            }
        }
    }
}

extension LogReading {
    fileprivate init(control bytes: RawSpan) throws(WireError) {
        var (process, file, behind): (Int32, String, Int) = (0, "", 0)
        var duration: Duration?
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: process = field.asInt32
            case 2: file = reader.string(field)
            case 3: behind = Int(clamping: field.scalar)
            case 4: duration = .milliseconds(Int64(clamping: field.scalar))
            default: break
            }
        }
        self.init(process: process, file: file, commitsBehind: behind, duration: duration)
    }
}
