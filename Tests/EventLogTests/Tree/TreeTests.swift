import LMDB
import LogKit
import MeshCrypto
import Synchronization
import TestKit
import Testing

@testable import EventLog

/// The tree of RFC 6962, written from its text and from nothing of ours but the hash.
enum PlainTree {
    /// Section 2.1.
    static func root(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] {
        if leaves.isEmpty { return SHA256.hash([] as [UInt8]) }
        if leaves.count == 1 { return leaves[leaves.startIndex] }
        let middle = middle(leaves)
        return SHA256.hash([1] + root(leaves[..<middle]) + root(leaves[middle...]))
    }

    /// Section 2.1.1: the path to the root from the leaf at this index of the slice.
    static func path(_ place: Int, _ leaves: ArraySlice<[UInt8]>) -> [[UInt8]] {
        guard leaves.count > 1 else { return [] }
        let middle = middle(leaves)
        if place < middle { return path(place, leaves[..<middle]) + [root(leaves[middle...])] }
        return path(place, leaves[middle...]) + [root(leaves[..<middle])]
    }

    /// Section 2.1.2: what connects the root of all leaves with the root of those before this index.
    static func proof(_ end: Int, _ leaves: ArraySlice<[UInt8]>, isWhole: Bool = true) -> [[UInt8]] {
        if end == leaves.endIndex { return isWhole ? [] : [root(leaves)] }
        let middle = middle(leaves)
        if end <= middle { return proof(end, leaves[..<middle], isWhole: isWhole) + [root(leaves[middle...])] }
        return proof(end, leaves[middle...], isWhole: false) + [root(leaves[..<middle])]
    }

    private static func middle(_ leaves: ArraySlice<[UInt8]>) -> Int {
        var split = 1
        while split * 2 < leaves.count { split *= 2 }
        return leaves.startIndex + split
    }
}

@Suite struct TreeTests {
    @Test func `any number of hashes has the root that the RFC gives them`() throws {
        var generator = SeededGenerator(seed: 6_962)
        for count in 0...70 {
            let hashes = (0..<count).map { _ in generator.bytes(32) }
            var hasher = MerkleHasher()
            let found = hasher.root(hashes.compactMap(digest))
            #expect(found == digest(PlainTree.root(hashes[...])), "\(count)")
        }
    }

    @Test func `tiles and the leaves that are added to them have the root that the RFC gives all leaves`() throws {
        var generator = SeededGenerator(seed: 256)
        let leaves = (0..<1_330).map { _ in generator.bytes(32) }
        let digests = leaves.compactMap(digest)
        var hasher = MerkleHasher()
        for tiles in 0...5 {
            var tree = LeafTree()
            for tile in 0..<tiles { tree.add(tile: hasher.root(Array(digests[tile * 256..<(tile + 1) * 256]))) }
            for count in tiles * 256..<tiles * 256 + 50 {
                #expect(
                    tree.count == UInt64(count) && tree.root() == digest(PlainTree.root(leaves[..<count])),
                    "\(count), \(tiles) tiles")
                tree.add(digests[count])
            }
        }
    }

    @Test(arguments: [0, 1, 255, 256, 257, 511, 512, 770, 65_280] as [UInt64])
    func `the edge of a stored tree goes on as the one that stored it, and no gap is stored`(tiles: UInt64) async throws {
        let log = try EventLog.temporary()
        let store = log.store
        var generator = SeededGenerator(seed: tiles)
        let hashes = (0..<tiles + 300).compactMap { _ in digest(generator.bytes(32)) }
        var kept = TreeFrontier()
        var rows: [TreeWork.Row] = []
        for hash in hashes.prefix(Int(tiles)) { kept.add(hash, to: &rows) }
        let failures = Mutex(0)
        /// Whether the rows are refused.
        func isRefused(_ rows: [TreeWork.Row], from first: UInt64) throws -> Bool {
            let before = failures.withLock { $0 }
            let work = TreeWork(firstTile: first, rows: rows) { failures.withLock { $0 += 1 } }
            try store.environment.write { (write) throws(StorageError) in try work.move(into: &write, store) }
            return failures.withLock { $0 } > before
        }
        #expect(try !isRefused(rows, from: 0) && isRefused(rows, from: tiles + 1))
        do {
            let reader = try log.beginRead()
            var read = try TreeFrontier(reader)
            #expect(read.tiles == tiles)
            var (own, others): ([TreeWork.Row], [TreeWork.Row]) = ([], [])
            for hash in hashes.dropFirst(Int(tiles)) {
                kept.add(hash, to: &own)
                read.add(hash, to: &others)
            }
            func described(_ rows: [TreeWork.Row]) -> [String] {
                rows.map { "\($0.key.level) \($0.key.number) \($0.hash.bytes)" }
            }
            #expect(described(own) == described(others) && read.tiles == tiles + 300)
            rows = own
        }
        #expect(try !isRefused(rows, from: tiles))
        await log.close()
    }

    @Test func `each subtree has the number of those of its size before it, also of more than 65,536 tiles`() {
        var frontier = TreeFrontier()
        var wrong: [UInt64] = []
        for tile in 0..<65_793 as Range<UInt64> {
            var rows: [TreeWork.Row] = []
            frontier.add(MerkleHasher.emptyRoot, to: &rows)
            let levels = 1 + min((tile + 1).trailingZeroBitCount / 8, 6)
            let isRight = rows.enumerated().allSatisfy { $1.key.level == $0 + 1 && $1.key.number == tile >> UInt64(8 * $0) }
            if rows.count != levels || !isRight { wrong.append(tile) }
        }
        #expect(wrong == [] && frontier.tiles == 65_793)
    }

    private func digest(_ bytes: [UInt8]) -> SHA256Digest? { unsafe SHA256Digest(bytes.span.bytes) }

    private func leaves(_ log: EventLog) throws -> [[UInt8]] {
        let reader = try log.beginRead()
        var cursor = try reader.cursor()
        var leaves: [[UInt8]] = []
        while try cursor.next() {
            let place = leaves.count
            let record = bytes(cursor.record)
            let key = SequenceKey(UInt64(place / 256))
            guard let stored = try reader.transaction.get(log.store.salts, key.span) else {
                throw StorageError.malformed([UInt8].self)
            }
            let salt = try encryption(of: place % 256, key: bytes(stored))
            let inner = SHA256.hash(salt + record[32...])
            let sequence = (0..<8).map { UInt8(truncatingIfNeeded: (place + 1) >> (56 - 8 * $0)) }
            leaves.append(SHA256.hash([0] + sequence + record[8..<32] + inner))
        }
        return leaves
    }

    @Test(arguments: [1, 2, 3, 255, 256, 257, 1000, 3000])
    func `the root is that of the RFC for any number of events`(count: Int) async throws { try await checkRoots(count) }

    @Test func `the root is that of the RFC for more tiles than one hash above them covers`() async throws {
        try await checkRoots(70_000)
    }

    private func checkRoots(_ count: Int) async throws {
        let folder = try TemporaryFolder()
        let log = try EventLog.create(at: folder.path + "/ledger", options: EventLogOptions(isDurable: false))
        try await appendNumbered(log, count)
        let leaves = try leaves(log)
        var generator = SeededGenerator(seed: UInt64(count))
        let sizes = [0, 1, count] + (0..<8).map { _ in Int.random(in: 0...count, using: &generator) }
        for size in sizes {
            #expect(try log.root(size: EventSequence(UInt64(size))) == PlainTree.root(leaves[..<size]), "size \(size)")
        }
        await log.close()
        let again = try EventLog.open(at: folder.path + "/ledger", options: EventLogOptions(access: .readOnly))
        let stored = try again.store.hashedTiles(again.beginRead().transaction)
        #expect(stored == UInt64(count / 256))
        for size in sizes {
            #expect(try again.root(size: EventSequence(UInt64(size))) == PlainTree.root(leaves[..<size]), "size \(size)")
        }
        await again.close()
    }

    @Test func `an inclusion proof leads from its leaf to the root`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 700)
        var tree = try TreeReader(log.beginRead())
        for size in [1, 2, 255, 256, 300, 512, 700] as [UInt64] {
            let root = try tree.root(size: size)
            for place in Set([0, size / 3, size / 2, size - 1]) {
                let proof = try tree.inclusionProof(of: place, size: size)
                let leaf = try tree.leaf(place)
                #expect(InclusionPath(place: place, size: size, hashes: proof).root(leaf: leaf) == root)
                #expect(InclusionPath(place: (place + 1) % size, size: size, hashes: proof).root(leaf: leaf) != root || size == 1)
            }
        }
        await log.close()
    }
}

private func bytes(_ span: RawSpan) -> [UInt8] { unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }

/// The block cipher alone: counter mode encrypts zeros from the counter `number` on.
private func encryption(of number: Int, key: [UInt8]) throws -> [UInt8] {
    let cipher = try AESCTR(key: key)
    var block = [UInt8](repeating: 0, count: 16)
    let counter = UInt64(number).bigEndian
    let isDone = unsafe block.withUnsafeMutableBytes { room in
        unsafe cipher.apply(iv: (0, counter), input: UnsafeRawBufferPointer(room), output: room)
    }
    #expect(isDone)
    return block
}
