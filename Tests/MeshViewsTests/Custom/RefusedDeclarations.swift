import Foundation
import MeshLedger
import Testing

/// Declarations that the compiler takes, and that no row can meet, are refused before a ledger is opened with them.
struct RefusedDeclarations {
    private struct Dated: StoredRow {
        var number: UInt32 = 0
        var date = Date(timeIntervalSince1970: 0)
        static let view = "dated"
        static let columns: [RowColumn<Dated>] = [RowColumn(key: "number", \.number), RowColumn(1, "date", \.date)]
        static let indexes: [RowIndex<Dated>] = [.index(\.date)]
    }

    private struct Hidden: StoredRow {
        var number: UInt32 = 0
        var hidden: UInt32 = 0
        static let view = "hidden"
        static let columns: [RowColumn<Hidden>] = [RowColumn(key: "number", \.number)]
        static let indexes: [RowIndex<Hidden>] = [.index(\.hidden)]
    }

    private struct Unruly: StoredRow {
        var number: UInt32 = 0
        static let view = "unruly"
        static let columns: [RowColumn<Unruly>] = [RowColumn(key: "number", \.number)]
        static let uniques: [UniqueRule<Unruly>] = [.unique(onCollision: .replace)]
    }

    private struct Capped: StoredRow {
        var number: UInt32 = 0
        var hidden: UInt32 = 0
        static let view = "capped"
        static let columns: [RowColumn<Capped>] = [RowColumn(key: "number", \.number)]
    }

    private struct View<Row: StoredRow>: LedgerView {
        static var versions: [SchemaVersion] { [SchemaVersion(1)] }
        static var cap: RowCap<Row> { .none }
        func fold(_ event: MeshEvent, into rows: inout RowEditor<Row>) {}
    }

    private struct CappedView: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<Capped>.total(2, by: \.hidden)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<Capped>) {}
    }

    @Test func `indexes, unique rules and caps that no row can meet are refused by name`() async throws {
        let views: [(any LedgerView.Type, String)] = [
            (View<Dated>.self, "an index names date, whose type does not conform to IndexValue"),
            (View<Hidden>.self, "an index names a property that is not one of its columns"),
            (View<Unruly>.self, "a unique rule is an index: an index has 0 properties"),
            (CappedView.self, "its cap orders rows by a property that is not one of its columns"),
        ]
        for (view, words) in views {
            var options = LedgerOptions()
            options.views = [view]
            let error = await #expect(throws: LedgerError.self) { try await Ledger.temporary(options: options) }
            #expect(error?.code == .schema)
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
    }
}
