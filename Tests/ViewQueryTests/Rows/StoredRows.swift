import Foundation
import ProtobufWire
import TestKit
import Testing

@testable import ViewQuery

struct StoredRows {
    enum Weather: UInt8, RowEnum, CaseIterable { case fair = 1, rain = 2, snow = 200 }
    enum Name: String, RowEnum, CaseIterable { case one, other, none = "" }

    struct Place: NestedRow, Equatable {
        var latitude = 0.0
        var label: String?
        var codes: [Int32] = []
        static let columns: [RowColumn<Place>] = [
            RowColumn(1, "latitude", \.latitude), RowColumn(2, "label", \.label), RowColumn(3, "codes", \.codes),
        ]
    }

    /// One property of each type that rows may have.
    struct Everything: StoredRow {
        var unsigned: UInt32 = 0
        var signed: Int16 = 0
        var flag = true
        var (u8, u16, u32, u64, word): (UInt8, UInt16, UInt32, UInt64, UInt) = (1, 2, 3, 4, 5)
        var (i8, i16, i32, i64, int): (Int8, Int16, Int32, Int64, Int) = (-1, -2, -3, -4, -5)
        var float: Float = 1.5
        var double = 2.5
        var text = "default"
        var data = Data([9])
        var bytes: [UInt8] = [7, 8]
        var date = Date(timeIntervalSince1970: 1_800_000_000)
        var id = UUID()
        var weather = Weather.fair
        var name = Name.one
        var place = Place(latitude: 1, label: "here", codes: [1])
        var maybeNumber: Int32? = 17
        var maybeText: String?
        var maybeDate: Date?
        var maybePlace: Place?
        var maybeWeather: Weather?
        var numbers: [UInt64] = [1, 2]
        var texts: [String] = []
        var floats: [Float] = []
        var dates: [Date] = []
        var blobs: [Data] = []
        var places: [Place] = []
        var weathers: [Weather] = []
        var tags: Set<String> = ["default"]
        var counts: [String: Int] = [:]
        var transient = 5
        var doubled: Int { int &* 2 }

        static let view = "everything"
        static let columns: [RowColumn<Everything>] = [
            RowColumn(key: "unsigned", \.unsigned), RowColumn(key: "signed", \.signed),
            RowColumn(1, "flag", \.flag), RowColumn(2, "u8", \.u8), RowColumn(3, "u16", \.u16), RowColumn(4, "u32", \.u32),
            RowColumn(5, "u64", \.u64), RowColumn(6, "word", \.word), RowColumn(7, "i8", \.i8), RowColumn(8, "i16", \.i16),
            RowColumn(9, "i32", \.i32), RowColumn(10, "i64", \.i64), RowColumn(11, "int", \.int),
            RowColumn(12, "float", \.float), RowColumn(13, "double", \.double), RowColumn(14, "text", \.text),
            RowColumn(15, "data", \.data), RowColumn(16, "bytes", \.bytes), RowColumn(17, "date", \.date),
            RowColumn(18, "id", \.id), RowColumn(19, "weather", \.weather), RowColumn(20, "name", \.name),
            RowColumn(21, "place", \.place), RowColumn(22, "maybeNumber", \.maybeNumber),
            RowColumn(23, "maybeText", \.maybeText), RowColumn(24, "maybeDate", \.maybeDate),
            RowColumn(25, "maybePlace", \.maybePlace), RowColumn(26, "maybeWeather", \.maybeWeather),
            RowColumn(27, "numbers", \.numbers), RowColumn(28, "texts", \.texts), RowColumn(29, "floats", \.floats),
            RowColumn(30, "dates", \.dates), RowColumn(31, "blobs", \.blobs), RowColumn(32, "places", \.places),
            RowColumn(33, "weathers", \.weathers), RowColumn(34, "tags", \.tags),
            RowColumn(2_000, "counts", \.counts, codec: .json), RowColumn(computed: "doubled", \.doubled),
        ]
    }

    /// Values at the edges of their types, and random ones.
    private static func row(_ random: inout SeededGenerator) -> Everything {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        func number<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
            pick([.min, .max, 0, 1, Value(truncatingIfNeeded: random.next())])
        }
        func double() -> Double {
            pick([0, -0.0, .nan, .signalingNaN, .infinity, -.infinity, .leastNonzeroMagnitude, Double(bitPattern: random.next())])
        }
        func float() -> Float {
            pick([0, -0.0, .nan, .infinity, .leastNonzeroMagnitude, Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))])
        }
        func text() -> String { pick(["", "a", "ä\u{0}€👩‍👩‍👧", "=1+1", String(repeating: "x", count: 300)]) }
        func date() -> Date {
            pick([.distantPast, .distantFuture, Date(timeIntervalSince1970: 0), Date(timeIntervalSinceReferenceDate: double())])
        }
        func bytes() -> [UInt8] { random.bytes(pick([0, 1, 200])) }
        func list<Value>(_ make: () -> Value) -> [Value] { (0..<pick([0, 1, 5])).map { _ in make() } }
        func maybe<Value>(_ make: () -> Value) -> Value? { Bool.random(using: &random) ? make() : nil }
        func place() -> Place { Place(latitude: double(), label: maybe(text), codes: list { number(Int32.self) }) }
        var row = Everything()
        (row.unsigned, row.signed, row.flag) = (number(UInt32.self), number(Int16.self), Bool.random(using: &random))
        (row.u8, row.u16, row.u32) = (number(UInt8.self), number(UInt16.self), number(UInt32.self))
        (row.u64, row.word, row.i8) = (number(UInt64.self), number(UInt.self), number(Int8.self))
        (row.i16, row.i32, row.i64, row.int) = (number(Int16.self), number(Int32.self), number(Int64.self), number(Int.self))
        (row.float, row.double, row.text) = (float(), double(), text())
        (row.data, row.bytes, row.date, row.id) = (Data(bytes()), bytes(), date(), UUID())
        (row.weather, row.name, row.place) = (pick(Weather.allCases), pick(Name.allCases), place())
        (row.maybeNumber, row.maybeText, row.maybeDate) = (maybe { number(Int32.self) }, maybe(text), maybe(date))
        (row.maybePlace, row.maybeWeather) = (maybe(place), maybe { pick(Weather.allCases) })
        (row.numbers, row.texts, row.floats) = (list { number(UInt64.self) }, list(text), list(float))
        (row.dates, row.blobs, row.places) = (list(date), list { Data(bytes()) }, list(place))
        row.weathers = list { pick(Weather.allCases) }
        (row.tags, row.counts) = (Set(list(text)), Dictionary(list { (text(), number(Int.self)) }) { $1 })
        row.transient = 99
        return row
    }

    private static func decoded(_ row: Everything) throws -> Everything {
        let (key, value) = (row.key, row.value)
        let decoded = Everything(key: key.rawSpan, value: value.rawSpan)
        return try #require(decoded)
    }

    @Test func `K1: a row of every type comes back bit by bit, with NaN, both zeros, distant dates and nothing in it`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let row = Self.row(&random)
            let back = try Self.decoded(row)
            // Descriptions of the parts: NaN is not equal to itself, and zero is equal to minus zero.
            for column in Everything.columns where column.name != "tags" && column.name != "counts" {
                #expect(
                    exactText(of: column.value(in: row)) == exactText(of: column.value(in: back)), "\(column.name), seed \(seed)")
            }
            #expect(row.tags == back.tags && row.counts == back.counts, "seed \(seed)")
            #expect(back.value == row.value, "seed \(seed)")
        }
    }

    @Test func `the order of keys is that of their numbers, negative ones first`() throws {
        var random = SeededGenerator(seed: 7)
        let rows = (0..<500).map { _ in Self.row(&random) }
        let sorted = rows.sorted { $0.unsigned != $1.unsigned ? $0.unsigned < $1.unsigned : $0.signed < $1.signed }
        #expect(sorted.map(\.key) == rows.map(\.key).sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func `K2: what is no column or computed is not stored, and has its default when read`() throws {
        var row = Everything()
        row.transient = 99
        let stored = row.value
        row.transient = 5
        #expect(row.value == stored)
        #expect(try Self.decoded(row).transient == 5)
        row.int = 21
        #expect(try Self.decoded(row).doubled == 42)

        struct Plain: StoredRow {
            var int = 0
            static let view = "plain"
            static let columns: [RowColumn<Plain>] = [RowColumn(1, "int", \.int)]
        }
        struct Computing: StoredRow {
            var int = 0
            var doubled: Int { int * 2 }
            static let view = "computing"
            static let columns: [RowColumn<Computing>] = [RowColumn(1, "int", \.int), RowColumn(computed: "doubled", \.doubled)]
        }
        #expect(Computing(int: 21).value == Plain(int: 21).value)
    }

    @Test func `M24: a row of an older version has the default of what it does not store, and what is gone is passed over`()
        throws
    {
        struct Older: StoredRow {
            var unsigned: UInt32 = 0
            var signed: Int16 = 0
            var u32: UInt32 = 0
            var gone = "gone"
            static let view = "everything"
            static let columns: [RowColumn<Older>] = [
                RowColumn(key: "unsigned", \.unsigned), RowColumn(key: "signed", \.signed), RowColumn(4, "count", \.u32),
                RowColumn(900, "gone", \.gone),
            ]
        }
        let (key, value) = (Older(unsigned: 3, signed: -3, u32: 11).key, Older(unsigned: 3, signed: -3, u32: 11).value)
        let read = Everything(key: key.rawSpan, value: value.rawSpan)
        let row = try #require(read)
        #expect(row.u32 == 11 && row.signed == -3)
        #expect(row.text == "default" && row.maybeNumber == 17 && row.numbers == [1, 2] && row.tags == ["default"])
    }

    @Test func `K6: a property is stored as its codec says`() throws {
        struct Tinted: StoredRow {
            var node: UInt32 = 0
            var colour = (red: UInt8(0), green: UInt8(0))
            static let view = "tinted"
            static let codec = RowCodec<(red: UInt8, green: UInt8)>("red and green") {
                [$0.red, $0.green]
            } decode: {
                $0.count == 2 ? ($0[0], $0[1]) : nil
            }
            static let columns: [RowColumn<Tinted>] = [
                RowColumn(key: "node", \.node), RowColumn(1, "colour", \.colour, codec: codec),
            ]
        }
        let row = Tinted(node: 1, colour: (200, 3))
        let (key, value) = (row.key, row.value)
        #expect(value == [10, 2, 200, 3])
        let back = Tinted(key: key.rawSpan, value: value.rawSpan)
        #expect(back?.colour.red == 200 && back?.colour.green == 3)
        let damaged: [UInt8] = [10, 1, 200]
        let repaired = Tinted(key: key.rawSpan, value: damaged.rawSpan)
        #expect(repaired?.colour.red == 0 && repaired?.colour.green == 0)
    }

    @Test func `bytes that are no row are reported, whatever they are`() {
        var random = SeededGenerator(seed: 3)
        let row = Self.row(&random)
        for _ in 0..<5_000 {
            var value = row.value
            for _ in 0..<3 { value[Int.random(in: 0..<value.count, using: &random)] = UInt8(truncatingIfNeeded: random.next()) }
            let key = row.key
            _ = Everything(key: key.rawSpan, value: value.rawSpan)
        }
        let (short, value) = ([UInt8](row.key.dropLast()), row.value)
        let none = Everything(key: short.rawSpan, value: value.rawSpan)
        #expect(none.map(\.key) == nil)
    }
}
