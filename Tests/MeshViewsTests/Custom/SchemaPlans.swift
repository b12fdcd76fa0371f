import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

struct SchemaPlans {
    typealias Versions = CountVersions

    private static func options(_ views: any LedgerView.Type..., access: LedgerOptions.Access = .readWrite) -> LedgerOptions {
        var options = LedgerOptions(access: access, log: EventLogOptions(isDurable: false))
        options.views = views
        return options
    }

    /// A ledger on disk whose counts are of version 1, closed.
    private final class Bench {
        let folder: TemporaryFolder
        var path: String { folder.path + "/mesh.ledger" }

        init(packets: Int = 300) async throws {
            folder = try TemporaryFolder()
            let ledger = try await Ledger.create(at: path, options: SchemaPlans.options(Versions.V1.self))
            let source = try await ledger.log.source(named: "test")
            _ = try await ledger.log.append(CustomViews.packets(packets, seed: 5).map { $0.event(source) })
            try await ledger.catchUp()
            try await ledger.close()
        }

        func open(_ view: any LedgerView.Type, access: LedgerOptions.Access = .readWrite) async throws -> Ledger {
            try await Ledger.open(at: path, options: SchemaPlans.options(view, access: access))
        }

        /// Opens with a view, adds a packet, closes, and returns its rows' digest.
        func step(_ view: any LedgerView.Type) async throws -> String {
            let ledger = try await open(view)
            try await ledger.catchUp()
            defer { withExtendedLifetime(ledger) {} }
            let digest = try ledger.maintenance.digest(of: "counts")
            try await ledger.close()
            return digest
        }

        /// All files of the ledger but the locks of readers, with their bytes.
        func files() throws -> [String: Data] {
            var files: [String: Data] = [:]
            let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
            for name in names where !name.hasSuffix("lock.mdb") && !name.hasSuffix("LOCK") {
                files[name] = FileManager.default.contents(atPath: path + "/" + name)
            }
            return files
        }

        func replayed(_ view: any LedgerView.Type) async throws -> String {
            try FileManager.default.removeItem(atPath: path + "/views/counts")
            return try await step(view)
        }
    }

    @Test func `M24 K7: a lightweight step reads old rows under new names, with defaults, without a replay, by the same index`()
        async throws
    {
        let bench = try await Bench()
        var ledger = try await bench.open(Versions.V1.self)
        let before = try ledger.fetch(FetchDescriptor<Versions.RowV1>())
        try await ledger.close()
        // The index of a property that has another name now, and the cap by one, hold as they are.
        let early = try await bench.open(Versions.V2.self, access: .readOnly)
        #expect(try early.maintenance.isIndexed("counts"))
        try await early.close()
        ledger = try await bench.open(Versions.V2.self)
        let rows = try ledger.fetch(FetchDescriptor<Versions.RowV2>())
        #expect(rows.map(\.packets) == before.map(\.count) && rows.map(\.last) == before.map(\.latest))
        #expect(rows.allSatisfy { $0.unit == "packets" } && rows.count == 10)
        #expect(await ledger.maintenance.projectorStatistics()["counts"]?.folded == 0)
        var descriptor = FetchDescriptor<Versions.RowV2>(predicate: #Predicate { $0.packets > 10 })
        descriptor.requiresIndex = true
        #expect(try ledger.fetch(descriptor).count == rows.count { $0.packets > 10 })
        #expect(try await ledger.maintenance.views().first { $0.name == "counts" }?.isStale == false)
        // It goes on from where it was, and another process reads it.
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append([MeshPacketBuilder(from: 103, id: 99_999, rxTime: 1_790_000_000).event(source)])
        try await ledger.catchUp()
        #expect(
            try ledger.fetch(FetchDescriptor<Versions.RowV2>()).map(\.packets).reduce(0, +) == rows.map(\.packets).reduce(1, +))
        try await ledger.close()
        let reader = try await bench.open(Versions.V2.self, access: .readOnly)
        #expect(try reader.fetch(FetchDescriptor<Versions.RowV2>()).count == 10)
        try await reader.close()
        let incremental = try await bench.step(Versions.V2.self)
        let rebuilt = try await bench.open(Versions.V2.self)
        try await rebuilt.maintenance.rebuild(["counts"])
        // Rows that were stored before do not have the bytes of the new property, but all of its values.
        #expect(try rebuilt.fetch(FetchDescriptor<Versions.RowV2>()).count == 10)
        try await rebuilt.close()
        #expect(!incremental.isEmpty)
    }

    @Test func `M27: of several custom steps each goes on from the rows of the one before`() async throws {
        let bench = try await Bench()
        func rows(folded: UInt64? = nil) async throws -> [[UInt64]] {
            let ledger = try await bench.open(Versions.V5.self)
            if let folded { #expect(await ledger.maintenance.projectorStatistics()["counts"]?.folded == folded) }
            try await ledger.catchUp()
            let rows = try ledger.fetch(FetchDescriptor<Versions.RowV5>()).map { [UInt64($0.node), $0.fourfold] }
            try await ledger.close()
            return rows
        }
        let jumped = try await rows(folded: 0)
        _ = try await bench.replayed(Versions.V5.self)
        #expect(try await rows() == jumped && jumped.count == 10)
    }

    @Test func `M27: from version 1 to 4 at once, version by version and folded again give the same rows`() async throws {
        func rows(_ bench: Bench) async throws -> [[UInt64]] {
            let ledger = try await bench.open(Versions.V4.self)
            try await ledger.catchUp()
            let rows = try ledger.fetch(FetchDescriptor<Versions.RowV4>())
            #expect(rows.allSatisfy { $0.unit == "packets" })
            let numbers = rows.map { [UInt64($0.node), $0.doubled, UInt64($0.last)] }
            try await ledger.close()
            return numbers
        }
        let (jump, steps) = (try await Bench(), try await Bench())
        let jumped = try await bench(jump)
        for view in [Versions.V2.self, Versions.V3.self, Versions.V4.self] as [any LedgerView.Type] {
            _ = try await steps.step(view)
        }
        let stepped = try await rows(steps)
        _ = try await steps.replayed(Versions.V4.self)
        let replayed = try await rows(steps)
        #expect(jumped == stepped && jumped == replayed && jumped.count == 10)

        func bench(_ bench: Bench) async throws -> [[UInt64]] {
            let ledger = try await bench.open(Versions.V4.self)
            // Not one event was folded for it.
            #expect(await ledger.maintenance.projectorStatistics()["counts"]?.folded == 0)
            try await ledger.close()
            return try await rows(bench)
        }
    }

    @Test func `M25: a step that throws leaves the older version as it was`() async throws {
        let bench = try await Bench()
        let digest = try await bench.step(Versions.V2.self)
        let error = await #expect(throws: LedgerError.self) { try await bench.open(Versions.Broken.self) }
        #expect(error?.code == .schema)
        #expect(error?.description.contains("version 3 of the view counts") == true)
        #expect(try await bench.step(Versions.V2.self) == digest)
        let folders = try FileManager.default.contentsOfDirectory(atPath: bench.path + "/views/counts")
        #expect(!folders.contains { $0.hasPrefix("v3") })
    }

    @Test func `M26: a view of a newer version is refused, and its files stay as they are`() async throws {
        let bench = try await Bench()
        _ = try await bench.step(Versions.V3.self)
        let before = try bench.files()
        for access in [LedgerOptions.Access.readWrite, .readOnly, .automatic] {
            let error = await #expect(throws: LedgerError.self) { try await bench.open(Versions.V2.self, access: access) }
            #expect(error?.code == .newerThanCode)
        }
        #expect(try bench.files() == before)
        _ = try await bench.step(Versions.V3.self)
    }

    @Test func `M22 S1: rows that change under the same version are refused with what changed`() async throws {
        let bench = try await Bench()
        let digest = try await bench.step(Versions.V1.self)
        for access in [LedgerOptions.Access.readWrite, .readOnly] {
            let error = await #expect(throws: LedgerError.self) {
                try await bench.open(Versions.Unversioned.self, access: access)
            }
            #expect(error?.code == .unversionedChange)
            #expect(error?.description.contains("count was renamed to packets") == true, "\(error?.description ?? "")")
        }
        #expect(try await bench.step(Versions.V1.self) == digest)
    }

    @Test func `a lightweight step that conceals a change is refused`() async throws {
        let bench = try await Bench()
        let error = await #expect(throws: LedgerError.self) { try await bench.open(Versions.Concealing.self) }
        #expect(error?.code == .schema)
        #expect(error?.description.contains("note is gone") == true)
        _ = try await bench.step(Versions.V1.self)
    }

    @Test func `S5 S3: the plan tells for each view what opening would do, and does nothing`() async throws {
        let bench = try await Bench()
        func action(_ views: any LedgerView.Type..., named name: String = "counts") throws -> SchemaState.Action? {
            var options = LedgerOptions()
            options.views = views
            return try Ledger.Maintenance.schemaPlan(at: bench.path, options: options).first { $0.view == name }?.action
        }
        let before = try bench.files()
        #expect(try action(Versions.V1.self) == SchemaState.Action.none)
        #expect(try action(Versions.V2.self) == .lightweight)
        #expect(try action(Versions.V3.self) == .custom)
        #expect(try action(Versions.V4.self) == .custom)
        #expect(try action(Versions.Replayed.self) == .replay)
        #expect(try action(Versions.Unversioned.self) == .unversionedChange)
        #expect(try action() == .orphaned)
        #expect(try action(PortUses.self, named: "port-use") == .build)
        #expect(try action(Versions.V1.self, named: "nodes") == SchemaState.Action.none)
        #expect(try bench.files() == before)
        _ = try await bench.step(Versions.V2.self)
        #expect(try action(Versions.V1.self) == .newerThanCode)
        // Dropping needs a program that does not know the view.
        var ledger = try await bench.open(Versions.V2.self)
        #expect(throws: LedgerError.self) { try ledger.maintenance.dropView("counts") }
        try await ledger.close()
        ledger = try await bench.open(PortUses.self)
        try ledger.maintenance.dropView("counts")
        #expect(throws: LedgerError.self) { try ledger.maintenance.dropView("counts") }
        try await ledger.close()
        #expect(try action() == nil)
    }

    private static var released: URL { PackageRoot.url.appendingPathComponent("Tests/Fixtures/schemas") }

    @Test func `S2: released versions of rows stay as they were`() throws {
        let schemas = try Ledger.Maintenance.schemas()
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.released.path).filter { $0.hasSuffix(".schema") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: Self.released.appendingPathComponent(file), encoding: .utf8)
            // Raise the version of a view whose rows change; what is only computed of others is marked `.computed()`.
            #expect(Ledger.Maintenance.changes(of: schemas, against: text) == [], "\(file)")
            // An edit of any released version is found.
            let edited = text.replacingOccurrences(of: " 1 ", with: " 1 0").replacingOccurrences(of: " 2 ", with: " 2 0")
            #expect(!Ledger.Maintenance.changes(of: schemas, against: edited).isEmpty)
            let newer = text.replacingOccurrences(of: " 1 ", with: " 7 ").replacingOccurrences(of: " 2 ", with: " 7 ")
            let views = text.split(separator: "\n").count { !$0.hasPrefix("#") }
            #expect(Ledger.Maintenance.changes(of: schemas, against: newer).count >= views - 2)
        }
        #expect(
            schemas.allSatisfy { !$0.layout.isEmpty || $0.view == "packets" }, "every view has a QueryRow in ViewRegistry.rows")
    }

    @Test func `the rows that a new recipe adds, removes and changes are reported before it is swapped in, and one can go back`()
        async throws
    {
        struct Small: LedgerView {
            static let versions = [CountVersions.one]
            static let cap = RowCap<CountVersions.RowV1>.total(4, by: \.latest)
            func fold(_ event: MeshEvent, into rows: inout RowEditor<CountVersions.RowV1>) throws {
                try CountVersions.V1().fold(event, into: &rows)
            }
        }
        let bench = try await Bench()
        let digest = try await bench.step(Versions.V1.self)
        var options = Self.options(Small.self)
        options.heldViews = ["counts"]
        var ledger = try await Ledger.open(at: bench.path, options: options)
        let old = try ledger.fetch(FetchDescriptor<Versions.RowV1>())
        #expect(old.count == 10)
        let found = Found()
        try await ledger.maintenance.compareRebuilt("counts") { difference in
            found.add(difference)
            return true
        }
        #expect(try ledger.fetch(FetchDescriptor<Versions.RowV1>()).count == 10)
        try await ledger.maintenance.rebuild(["counts"], keepsOld: true)
        let new = try ledger.fetch(FetchDescriptor<Versions.RowV1>())
        #expect(new.count == 4)
        var expected: [String: String] = [:]
        for row in old where !new.contains(where: { $0.node == row.node }) { expected["\(row.node)"] = "-" }
        for row in new {
            if let before = old.first(where: { $0.node == row.node }), before.value != row.value { expected["\(row.node)"] = "~" }
        }
        #expect(found.signs == expected)
        try await ledger.maintenance.goBack("counts")
        #expect(try ledger.maintenance.digest(of: "counts") == digest)
        #expect(try await ledger.maintenance.views().first { $0.name == "counts" }?.isPinned == true)
        try await ledger.close()
        // Also after reopening, until it is rebuilt.
        ledger = try await Ledger.open(at: bench.path, options: Self.options(Small.self))
        try await ledger.catchUp()
        #expect(try ledger.maintenance.digest(of: "counts") == digest)
        try await ledger.maintenance.rebuild(["counts"])
        #expect(try ledger.fetch(FetchDescriptor<Versions.RowV1>()).map(\.value) == new.map(\.value))
        #expect(try await ledger.maintenance.views().first { $0.name == "counts" }?.isPinned == false)
        let again = Found()
        try await ledger.maintenance.compareRebuilt("counts") { difference in
            again.add(difference)
            return true
        }
        #expect(again.signs.isEmpty)
        try await ledger.close()
    }

    private final class Found: @unchecked Sendable {
        // Written by one task, read when it has ended.
        var signs: [String: String] = [:]

        func add(_ difference: RowDifference) {
            let node = difference.key.reduce(0) { $0 << 8 | UInt32($1) }
            signs["\(node)"] = difference.old == nil ? "+" : difference.new == nil ? "-" : "~"
        }
    }
}
