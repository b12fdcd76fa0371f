import LMDB
import TestKit
import Testing

/// Tables against a dictionary that does the same.
struct TableModelTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a table behaves like a sorted dictionary through commits, aborts and reopening`(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var generator = SeededGenerator(seed: seed)
        var model: [UInt32: [UInt8]] = [:]
        for round in 0..<30 {
            let environment = try Environment.open(folder.path)
            let table = try environment.table("rows", UInt32.self, [UInt8].self)
            var write = try environment.beginWrite()
            var changed = model
            for _ in 0..<Int.random(in: 1...200, using: &generator) {
                let key = UInt32.random(in: 0..<500, using: &generator)
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let wasThere = try write.delete(table, key)
                    #expect(wasThere == (changed.removeValue(forKey: key) != nil), "seed \(seed), round \(round)")
                } else {
                    let value = generator.bytes(Int.random(in: 0..<3000, using: &generator))
                    try write.put(table, key, value)
                    changed[key] = value
                }
                let probe = UInt32.random(in: 0..<500, using: &generator)
                let found = try write.get(table, probe)
                #expect(found == changed[probe], "seed \(seed), round \(round)")
            }
            if Bool.random(using: &generator) {
                try write.commit()
                model = changed
            } else {
                write.abort()
            }
            try expect(environment, table, equals: model, using: &generator)
            environment.close()
        }
    }

    private func expect(
        _ environment: Environment, _ table: Table<UInt32, [UInt8]>, equals model: [UInt32: [UInt8]],
        using generator: inout SeededGenerator
    ) throws {
        let read = try environment.beginRead()
        var keys: [UInt32] = []
        try read.forEach(table) { (key, value) throws(StorageError) in
            keys.append(key)
            return model[key] == value
        }
        #expect(keys == model.keys.sorted())
        let count = try read.count(table.raw)
        #expect(count == model.count)
        for _ in 0..<20 {
            let probe = UInt32.random(in: 0..<600, using: &generator)
            var key = KeyBuffer()
            probe.encode(into: &key)
            var cursor = try read.cursor(table.raw)
            let after = try cursor.seek(atOrAfter: key.bytes) ? try UInt32(decodingKey: cursor.key) : nil
            #expect(after == model.keys.filter { $0 >= probe }.min())
            let before = try cursor.seek(atOrBefore: key.bytes) ? try UInt32(decodingKey: cursor.key) : nil
            #expect(before == model.keys.filter { $0 <= probe }.max())
            let isThere = try cursor.seek(exactly: key.bytes)
            #expect(isThere == (model[probe] != nil))
        }
    }
}
