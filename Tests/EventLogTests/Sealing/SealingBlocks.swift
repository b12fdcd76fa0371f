import LMDB
import TestKit
import Testing

@testable import EventLog

/// Records that become a block and records again.
struct SealingBlocks {
    @Test(arguments: 1...15 as ClosedRange<UInt64>)
    func `a block gives back the very records, for whatever they are`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let run = randomRun(&generator, count: Int.random(in: 1..<900, using: &generator), largest: seed % 5 == 0 ? 90_000 : 300)
        let block = try BlockEncoder(summariser: nil).encode(run, count: run.count)
        var decoded = RecordRun()
        let decoder = try BlockDecoder()
        for _ in 0..<2 {  // its buffers are used again
            #expect(decoder.decodes(block.bytes, first: run.first, into: &decoded))
            #expect(decoded.first == run.first && decoded.ends == run.ends)
            #expect(decoded.bytes.prefix(decoded.byteCount) == run.bytes.prefix(run.byteCount))
        }
        #expect(!decoder.decodes(block.bytes, first: run.first + 1, into: &decoded))
    }

    @Test func `a block of what cannot be compressed has room for the facts of all its events`() throws {
        var generator = SeededGenerator(seed: 3)
        let run = randomRun(&generator, count: 400, largest: 300)
        let summariser = EventSummariser(facets: [1, 2]) { _, payload, facts in
            guard payload.byteCount >= 8 else { return }
            facts.insert(unsafe payload.unsafeLoadUnaligned(as: UInt32.self), 1)
            facts.insert(unsafe payload.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt32.self), 2)
        }
        let block = try BlockEncoder(summariser: summariser).encode(run, count: run.count)
        let header = BlockHeader(block.bytes.span.rawBytes, first: run.first)
        let factsLength = header.map { $0.factsLength } ?? 0
        #expect(factsLength > 1_000)
        var decoded = RecordRun()
        #expect(try BlockDecoder().decodes(block.bytes, first: run.first, into: &decoded))
        #expect(decoded.ends == run.ends && decoded.bytes.prefix(decoded.byteCount) == run.bytes.prefix(run.byteCount))
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `blocks fill their pages to the end and follow each other`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var run = randomRun(&generator, count: 3000, largest: 200)
        let all = run
        let encoder = try BlockEncoder(summariser: nil)
        let decoder = try BlockDecoder()
        var next = all.first
        while run.byteCount > 2 * BlockEncoder.target {
            let block = try encoder.encodeFitting(run)
            #expect(block.first == next)
            let left = (block.bytes.count + 16 + 4095) / 4096 * 4096 - 16 - block.bytes.count
            #expect(left < 1024, "seed \(seed), \(block.bytes.count) bytes")
            var decoded = RecordRun()
            #expect(decoder.decodes(block.bytes, first: next, into: &decoded))
            #expect(decoded.bytes.prefix(decoded.byteCount) == run.bytes.prefix(decoded.byteCount))
            run.removeFirst(block.count)
            next += UInt64(block.count)
            #expect(run.first == next)
        }
    }

    @Test func `records that need almost no room fill a page of their own together`() throws {
        var run = RecordRun()
        run.begin(at: 1)
        for _ in 0..<900 {
            run.append(
                RecordHeader(NewEvent([], encoding: .note, source: .log)), arrival: 5, payload: [UInt8](repeating: 7, count: 100))
        }
        let block = try BlockEncoder(summariser: nil).encodeFitting(run)
        #expect(block.count == 900 && block.last == 900 && block.bytes.count < 2_000)
    }

    @Test func `no changed byte of a block goes unnoticed`() throws {
        var generator = SeededGenerator(seed: 3)
        let run = randomRun(&generator, count: 40, largest: 60)
        let block = try BlockEncoder(summariser: nil).encode(run, count: run.count)
        let decoder = try BlockDecoder()
        var decoded = RecordRun()
        for place in block.bytes.indices {
            var bytes = block.bytes
            bytes[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
            #expect(!decoder.decodes(bytes, first: run.first, into: &decoded), "byte \(place)")
            #expect(!decoder.decodes(Array(block.bytes.prefix(place)), first: run.first, into: &decoded))
        }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `bytes that only pretend to be a block never trap, even with a checksum that fits`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let run = randomRun(&generator, count: 40, largest: 60)
        let block = try BlockEncoder(summariser: nil).encode(run, count: run.count)
        let decoder = try BlockDecoder()
        var decoded = RecordRun()
        for _ in 0..<200 {
            var bytes = block.bytes
            for _ in 0..<Int.random(in: 1..<4, using: &generator) {
                let place = Int.random(in: 12..<bytes.count, using: &generator)
                bytes[place] = [0, 255, UInt8.random(in: 0...255, using: &generator)].randomElement(using: &generator) ?? 0
            }
            if Bool.random(using: &generator) { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))) }
            if bytes.count >= BlockHeader.size { BlockEncoder.writeChecksums(&bytes, factsLength: 0, first: run.first) }
            if decoder.decodes(bytes, first: run.first, into: &decoded) {
                #expect(decoded.byteCount == decoded.ends.last)
            }
        }
    }

    @Test func `a content that claims to be huge is refused before room is made for it`() throws {
        var generator = SeededGenerator(seed: 4)
        let run = randomRun(&generator, count: 2, largest: 60)
        var bytes = try BlockEncoder(summariser: nil).encode(run, count: 2).bytes
        for (length, isBlock) in [(64 << 20, true), ((64 << 20) + 1, false), (Int(UInt32.max), false)] {
            for place in 0..<4 { bytes[40 + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
            BlockEncoder.writeChecksums(&bytes, factsLength: 0, first: run.first)
            let header = BlockHeader(bytes.span.rawBytes, first: run.first)
            #expect((header != nil) == isBlock, "\(length) bytes")
        }
    }

    @Test func `a record rewritten inside a block is sealed again as it is`() throws {
        var generator = SeededGenerator(seed: 5)
        let run = randomRun(&generator, count: 100, largest: 60)
        let decoder = try BlockDecoder()
        var decoded = RecordRun()
        let encoder = try BlockEncoder(summariser: nil)
        #expect(decoder.decodes(try encoder.encode(run, count: 100).bytes, first: run.first, into: &decoded))
        var changed = RecordRun()
        changed.begin(at: run.first)
        for index in 0..<100 {
            if index == 50 {
                changed.append(RecordHeader(NewEvent([], encoding: .note, source: .log)), arrival: 1, payload: [1, 2, 3])
            } else {
                changed.append(decoded.record(index))
            }
        }
        let again = try encoder.encode(changed, count: 100)
        #expect(decoder.decodes(again.bytes, first: run.first, into: &decoded))
        #expect(decoded.ends == changed.ends)
        #expect(decoded.copy(49) == run.copy(49))
    }

    private func randomRun(_ generator: inout SeededGenerator, count: Int, largest: Int) -> RecordRun {
        var run = RecordRun()
        run.begin(at: UInt64.random(in: 1...1 << 60, using: &generator))
        for _ in 0..<count {
            let header = RecordHeader(
                encoding: PayloadEncoding(rawValue: UInt8.random(in: 0...255, using: &generator)),
                source: SourceID(rawValue: UInt32.random(in: 0...9, using: &generator)),
                reception: Bool.random(using: &generator)
                    ? .live : .recorded(Timestamp(microseconds: Int64.random(in: .min ... .max, using: &generator))),
                isMasked: Bool.random(using: &generator))
            run.append(
                header, arrival: Int64.random(in: .min ... .max, using: &generator),
                payload: generator.bytes(Int.random(in: 0...largest, using: &generator)))
        }
        return run
    }

    @Test func `blocks are made again from an earlier event, as after some that could not be stored`() async throws {
        let log = try EventLog.temporary(options: EventLogOptions(sealing: SealingPolicy(isAutomatic: false)))
        var generator = SeededGenerator(seed: 96)
        try await log.append((0..<6_000).map { _ in NewEvent(generator.bytes(60), encoding: .note, source: .log) })
        let maker = try BlockMaker(stores: StoreBox(log.store), summariser: nil)
        let first = try #require(try maker.next(from: 1, through: 6_000, isWhole: true)).0
        #expect(first.first == 1 && first.last < 6_000)
        let second = try #require(try maker.next(from: first.last + 1, through: 6_000, isWhole: true)).0
        #expect(second.first == first.last + 1)
        let again = try #require(try maker.next(from: 1, through: 6_000, isWhole: true))
        #expect(again.0.first == 1 && again.0.bytes == first.bytes && again.checksums.count == first.count)
        var next = first.last + 1
        while let made = try maker.next(from: next, through: 6_000, isWhole: true) {
            #expect(made.0.first == next)
            next = made.0.last + 1
        }
        #expect(next == 6_001)
        #expect(try maker.next(from: 5_999, through: 6_000, isWhole: false) == nil, "too little")
        #expect(try maker.next(from: 5_999, through: 6_000, isWhole: true)?.0.count == 2)
        await log.close()
    }
}

extension BlockDecoder {
    /// As `decode`; an expectation cannot take spans.
    fileprivate func decodes(_ bytes: [UInt8], first: UInt64, into run: inout RecordRun) -> Bool {
        decode(bytes.span.rawBytes, first: first, into: &run)
    }
}

extension RecordRun {
    fileprivate func copy(_ index: Int) -> [UInt8] { unsafe record(index).withUnsafeBytes { unsafe Array($0) } }

    fileprivate mutating func append(_ header: RecordHeader, arrival: Int64, payload: [UInt8]) {
        var record = [UInt8](repeating: 0, count: RecordHeader.size + payload.count)
        let sequence = first + UInt64(count)
        unsafe record.withUnsafeMutableBytes { room in
            guard let start = room.baseAddress else { return }
            unsafe payload.withUnsafeBytes { bytes in
                unsafe Record.write(header, arrival: arrival, payload: bytes, sequence: sequence, to: start)
            }
        }
        append(record.span.rawBytes)
    }
}
