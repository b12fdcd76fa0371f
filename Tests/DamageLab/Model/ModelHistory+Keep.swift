import EventLog
import Foundation
import LMDB
import TestKit

extension ModelHistory {
    mutating func verify() throws {
        let (count, bytes) = model.withLock { ($0.events.count, $0.payloadBytes) }
        let result = try log.verify()
        guard result.isIntact else { throw Difference("verify finds \(result.problems.prefix(3))") }
        try expect(result.eventsChecked, count, "events checked")
        try expect(result.payloadBytes, bytes, "payload bytes")
        let sealed = try log.sealingStatistics()
        try expect(sealed.sealedEvents + sealed.hotEvents, UInt64(count), "sealed and other events")
    }

    /// A root never changes, whatever was sealed, compacted or appended since.
    mutating func takeRoot(_ generator: inout SeededGenerator) throws {
        let known = model.withLock { $0.roots }
        let old = known.keys.sorted()
        for size in [log.head.rawValue] + old.shuffled(using: &generator).prefix(2) {
            let root = try log.root(size: EventSequence(size))
            if let before = known[size], before != root { throw Difference("the root over \(size) events has changed") }
            if old.count < 60 { model.withLock { $0.roots[size] = root } }
            note(root)
        }
    }

    mutating func prove(_ generator: inout SeededGenerator) throws {
        let (head, roots) = model.withLock { ($0.head, $0.roots) }
        let verifier = try log.verifier()
        if head > 0 {
            let sequence = generator.next() % head + 1
            let text = try log.proof(of: EventSequence(sequence)).description
            guard let statement = try InclusionProof(text)?.check(verifier) else { throw Difference("the proof of \(sequence)") }
            let event = model.withLock { $0.events[Int(sequence) - 1] }
            try expect(statement.sequence.rawValue, sequence, "sequence in a proof")
            try expect(statement.payload, event.isErased ? nil : event.payload, "payload in the proof of \(sequence)")
            try expect(statement.arrivalTime, event.arrivalTime, "time in the proof of \(sequence)")
            note(Array(text.utf8))
        }
        let size = roots.keys.sorted().randomElement(using: &generator) ?? head
        let note = try log.checkpoint(size: EventSequence(size))
        guard let read = SignedNote(note.description), read.isSigned(by: verifier), let checkpoint = LogCheckpoint(read) else {
            throw Difference("the checkpoint over \(size) events")
        }
        try expect(checkpoint.size, size, "size of a checkpoint")
        if let root = roots[size] { try expect(checkpoint.root, root, "root of the checkpoint over \(size)") }
        self.note(Array(note.description.utf8))
    }

    mutating func erase(_ generator: inout SeededGenerator) async throws {
        let events = model.withLock { $0.events }
        let first = place(&generator)
        let wanted = (first..<first + UInt64.random(in: 1..<40, using: &generator)).filter { sequence in
            sequence >= 1 && sequence <= UInt64(events.count) && events[Int(sequence) - 1].source != .log
                && Int.random(in: 0..<4, using: &generator) > 0
        }
        let fresh = Set(wanted.filter { !events[Int($0) - 1].isErased })
        let report = try await log.erase(wanted.map { EventSequence($0)...EventSequence($0) }, reason: "a step")
        try expect(report.erased, UInt64(fresh.count), "erased events")
        guard !fresh.isEmpty else { return try expect(report.events, [], "events that say what was erased") }
        try expect(report.events, [EventSequence(UInt64(events.count) + 1)], "events that say what was erased")
        guard let erasure = try log.event(report.events[0]).map(ModelEvent.init) else {
            throw Difference("no erasure is reported")
        }
        try expect(erasure.encoding, .erasure, "encoding of an erasure")
        try expect(erasure.arrivalTime, clock.withLock { $0 }, "time of an erasure")
        model.withLock { $0.erase(fresh, event: erasure) }
        note(erasure.payload)
    }

    mutating func seal() async throws {
        try await log.seal()
        if isExact {
            let full = model.withLock { $0.head } / 256 * 256
            let sealed = try log.sealingStatistics().sealedEvents
            // What was sealed before stays so, also where fewer are asked for.
            try expect(sealed, full, "sealed events")
            note(UInt64(try log.sealingStatistics().blocks))
        }
    }

    mutating func reopen() async throws {
        closeConsumers()
        await log.close()
        log = try EventLog.open(at: path, options: options)
    }

    /// Open or closed.
    mutating func compact(_ generator: inout SeededGenerator) async throws {
        let identifier = log.identifier
        let done: LogCompaction
        if Bool.random(using: &generator) {
            done = try await log.compact()
        } else {
            closeConsumers()
            await log.close()
            done = try await EventLog.compact(at: path)
            log = try EventLog.open(at: path, options: options)
        }
        try expect(log.identifier, identifier, "identifier")
        note(UInt64(done.generation))
    }

    /// Reads without the right to write.
    mutating func readOnly(_ generator: inout SeededGenerator) async throws {
        closeConsumers()
        await log.close()
        var reading = options
        reading.access = .readOnly
        log = try EventLog.open(at: path, options: reading)
        try readRange(&generator)
        try readByTime(&generator)
        try readFiltered(&generator)
        try readCursors()
        do throws(EventLogError) {
            try await log.append(NewEvent([1], encoding: .note, source: .log))
            throw EventLogError(.storage, path: path, detail: "a log that is open for reading takes an event")
        } catch {
            guard error.code == .readOnly else { throw error }
        }
        await log.close()
        log = try EventLog.open(at: path, options: options)
    }

    private mutating func closeConsumers() {
        for consumer in consumers.values { consumer.close() }
        consumers = [:]
    }
}

extension ModelHistory {
    private func name(_ generator: inout SeededGenerator) -> String { "consumer-\(Int.random(in: 0..<4, using: &generator))" }

    mutating func openConsumer(_ generator: inout SeededGenerator) throws {
        let name = name(&generator)
        let head = log.head.rawValue
        let begin = generator.next() % (head + 1)
        let (start, position): (ConsumerStart, UInt64) =
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: (.start, 0)
            case 1: (.now, head)
            default: (.sequence(EventSequence(begin)), max(begin, 1) - 1)
            }
        if consumers[name] != nil {
            do throws(EventLogError) {
                _ = try log.consumer(named: name, from: start)
                throw EventLogError(.storage, path: path, detail: "a consumer runs twice")
            } catch {
                guard error.code == .consumerHeld else { throw error }
                return
            }
        }
        let consumer = try log.consumer(named: name, from: start)
        let expected = model.withLock { model -> UInt64 in
            let known = model.consumers[name] ?? position
            model.consumers[name] = known
            return known
        }
        try expect(consumer.position.rawValue, expected, "position of \(name)")
        consumers[name] = consumer
    }

    mutating func consume(_ generator: inout SeededGenerator) throws {
        let name = name(&generator)
        guard let consumer = consumers[name] else { return try expectStatus() }
        let limit = Int.random(in: 1..<60, using: &generator)
        let events = try consumer.available(limit: limit).map(ModelEvent.init)
        let all = model.withLock { $0.events }
        if let first = events.first {
            let place = Int(first.sequence) - 1
            guard events[...] == all[place..<min(place + limit, all.count)] else {
                throw Difference("\(name) gets other events from \(first.sequence) on")
            }
            if Bool.random(using: &generator) {
                let through = events[Int.random(in: 0..<events.count, using: &generator)].sequence
                try consumer.acknowledge(through: EventSequence(through))
                model.withLock { $0.consumers[name] = max($0.consumers[name] ?? 0, through) }
            }
        }
        note(UInt64(events.count))
        try expectStatus()
    }

    mutating func removeConsumer(_ generator: inout SeededGenerator) throws {
        let name = name(&generator)
        let isKnown = model.withLock { $0.consumers[name] != nil }
        consumers.removeValue(forKey: name)?.close()
        var isRemoved = true
        do throws(EventLogError) {
            try log.removeConsumer(named: name)
        } catch {
            guard error.code == .missingConsumer else { throw error }
            isRemoved = false
        }
        try expect(isRemoved, isKnown, "whether \(name) was there to be removed")
        model.withLock { $0.consumers[name] = nil }
        try expectStatus()
    }

    private func expectStatus() throws {
        let (known, head) = model.withLock { ($0.consumers, $0.head) }
        let found = try log.consumers()
        try expect(found.map(\.name), known.keys.sorted(), "consumers")
        for status in found {
            try expect(status.position.rawValue, known[status.name], "position of \(status.name)")
            try expect(status.lag, head - status.position.rawValue, "lag of \(status.name)")
        }
    }
}

extension ModelHistory {
    /// All rows of all tables of a log that is closed.
    static func rows(_ path: String) throws -> [UInt8] {
        let text = try String(contentsOfFile: path + "/log/current", encoding: .utf8)
        guard let generation = text.split(separator: "\n").dropFirst().first?.split(separator: " ").last else {
            throw Difference(text)
        }
        let environment = try Environment.open(
            "\(path)/log/\(generation)", EnvironmentOptions(access: .readOnly, maximumTables: 16, createsFolder: false))
        defer { environment.close() }
        var rows: [UInt8] = []
        let names = ["events", "sealed", "arrivals", "salts", "tree", "sources", "cursors", "meta"]
        let tables = try names.map { try environment.table($0) }
        let read = try environment.beginRead()
        for table in tables {
            var cursor = try read.cursor(table)
            while try cursor.next() {
                unsafe cursor.key.withUnsafeBytes { unsafe rows += $0 }
                unsafe cursor.value.withUnsafeBytes { unsafe rows += $0 }
            }
            rows += Array(table.name.utf8)
        }
        return rows
    }
}
