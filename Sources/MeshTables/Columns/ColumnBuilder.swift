import FlatCollections
import ProtobufWire

/// Collects the values of one column of a batch.
///
/// Each subclass stores its values in one array of their type; `TableColumn` fills it in a loop that is specialised for the row's type.
public class ColumnBuilder {
    var validity = ValidityBits()
    /// Whether the memory of a batch is kept for the next one.
    var isReused = false

    /// The approximate memory of the values.
    var byteCount: Int { 0 }
    /// The approximate memory of the dictionary, which the next batch goes on with.
    var dictionaryBytes: Int { 0 }

    /// Begins the next batch with a new dictionary. No batch may be open.
    func dropDictionary() {}

    func takeData() -> ColumnData { .bool([]) }

    /// Those so far, of which no copy is left here: adding to them copies nothing.
    final func takeValidity() -> ValidityBits {
        defer { validity = ValidityBits() }
        return validity
    }

    /// Returns the values so far and begins a new batch.
    final func finish() -> ColumnArray {
        defer { validity = ValidityBits() }
        return ColumnArray(
            count: validity.count, nullCount: validity.nullCount, validity: validity.bits, data: takeData())
    }
}

/// Which values are not null.
struct ValidityBits {
    private var words: [UInt64] = []
    private var word: UInt64 = 0
    private(set) var count = 0
    private(set) var nullCount = 0

    @inline(__always)
    mutating func append(_ isValid: Bool) {
        let place = UInt64(truncatingIfNeeded: count & 63)
        word |= (isValid ? 1 : 0) &<< place
        nullCount &+= isValid ? 0 : 1
        count &+= 1
        if place == 63 { endWord() }
    }

    /// Adds values of which none is null.
    mutating func append(valid number: Int) {
        var left = number
        while left > 0 {
            let place = count & 63
            let taken = min(64 - place, left)
            word |= (UInt64.max >> UInt64(64 - taken)) << UInt64(place)
            count += taken
            left -= taken
            if place + taken == 64 { endWord() }
        }
    }

    private mutating func endWord() {
        words.append(word)
        word = 0
    }

    /// A bit for each value, the lowest first; none if no value is null.
    var bits: [UInt8] {
        guard nullCount > 0 else { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words.count * 8 + 8)
        for word in words { bytes.append(littleEndian: word, width: 8) }
        bytes.append(littleEndian: word, width: 8)
        bytes.removeLast(bytes.count - (count + 7) / 8)
        return bytes
    }
}

/// The values of one column, which begins each batch empty.
struct BatchValues<Value> {
    private var values: [Value] = []
    /// Those of the batch before, whose memory is used again if nothing has them any more.
    private var last: [Value] = []
    private var expected = 0

    var count: Int { values.count }

    /// Adds values, zeros at first. The array is the caller's alone meanwhile, so that neither checks of access nor copies slow its loop.
    @inline(__always)
    mutating func append(_ count: Int, zero: Value, _ body: (inout MutableSpan<Value>, _ start: Int) -> Void) {
        if values.isEmpty { begin() }
        var taken: [Value] = []
        swap(&taken, &values)
        let start = taken.count
        taken.append(contentsOf: repeatElement(zero, count: count))
        var span = taken.mutableSpan
        body(&span, start)
        swap(&taken, &values)
    }

    private mutating func begin() {
        swap(&values, &last)
        values.removeAll(keepingCapacity: true)
        values.reserveCapacity(expected)
    }

    /// - Parameter isReused: whether the memory is kept for the next batch.
    mutating func take(isReused: Bool) -> [Value] {
        defer { values = [] }
        expected = values.count
        if isReused { last = values }
        return values
    }
}

final class NumberBuilder<Value: ColumnNumber>: ColumnBuilder {
    private var values = BatchValues<Value>()

    override var byteCount: Int { values.count * MemoryLayout<Value>.stride }

    @inline(__always)
    func append<Row>(_ rows: RowsInMemory<Row>, _ get: (Row) -> Value) {
        values.append(rows.count, zero: .zero) { values, start in
            for index in 0..<rows.count { values[start &+ index] = get(rows[index]) }
        }
        validity.append(valid: rows.count)
    }

    @inline(__always)
    func appendOptional<Row>(_ rows: RowsInMemory<Row>, _ get: (Row) -> Value?) {
        var validity = takeValidity()
        values.append(rows.count, zero: .zero) { values, start in
            for index in 0..<rows.count {
                let value = get(rows[index])
                if let value { values[start &+ index] = value }
                validity.append(value != nil)
            }
        }
        self.validity = validity
    }

    override func takeData() -> ColumnData { Value.data(values.take(isReused: isReused)) }
}

final class TextBuilder: ColumnBuilder {
    private(set) var offsets: [Int32] = [0]
    private(set) var bytes: [UInt8] = []

    override var byteCount: Int { bytes.count + offsets.count * 4 }

    func append(_ text: consuming String) {
        text.withUTF8 { unsafe bytes.append(contentsOf: $0) }
        end()
    }

    func append(_ value: [UInt8]) {
        bytes += value
        end()
    }

    func appendNothing() { offsets.append(offsets.last ?? 0) }

    /// A batch ends long before 2 GiB: see `BatchBuilder`.
    private func end() { offsets.append(Int32(clamping: bytes.count)) }

    override func takeData() -> ColumnData {
        defer { (offsets, bytes) = ([0], []) }
        return .bytes(offsets: offsets, bytes: bytes)
    }
}

/// Repeated texts, each stored once. A number that stands for a text is looked up without the text.
final class DictionaryBuilder: ColumnBuilder {
    private var indexes = BatchValues<Int32>()
    private var dictionary = ColumnDictionary()
    private var places: [ExactText: Int32] = [:]
    /// By number, one more than the index; 0 for a number without a text.
    private var codes = FlatMap()
    private var lastText: (text: ExactText, index: Int32)?

    override var byteCount: Int { indexes.count * 4 }
    override var dictionaryBytes: Int { dictionary.bytes.count + dictionary.count * 64 + codes.count * 48 }

    override func dropDictionary() { (dictionary, places, codes, lastText) = (ColumnDictionary(), [:], FlatMap(), nil) }

    @inline(__always)
    func append<Row>(_ rows: RowsInMemory<Row>, code: (Row) -> UInt32, name: (UInt32) -> String?, areNamesUnique: Bool) {
        var last: (code: UInt32, index: Int32)?
        fill(rows) { row in
            let code = code(row)
            if let last, last.code == code { return last.index }
            let index = index(of: code, name, areNamesUnique)
            last = (code, index)
            return index
        }
    }

    private func index(of code: UInt32, _ name: (UInt32) -> String?, _ areNamesUnique: Bool) -> Int32 {
        if let known = codes[UInt64(code)] { return known - 1 }
        let index = name(code).map { areNamesUnique ? newPlace(of: $0) : place(of: ExactText($0)) } ?? -1
        codes.set(UInt64(code), index + 1)
        return index
    }

    @inline(__always)
    func append<Row>(_ rows: RowsInMemory<Row>, _ get: (Row) -> String?) { fill(rows) { index(of: get($0)) } }

    private func index(of text: String?) -> Int32 {
        guard let text = text.map(ExactText.init) else { return -1 }
        if let lastText, lastText.text == text { return lastText.index }
        let index = place(of: text)
        lastText = (text, index)
        return index
    }

    /// - Parameter get: the index of a row's text; -1 without one.
    @inline(__always)
    private func fill<Row>(_ rows: RowsInMemory<Row>, _ get: (Row) -> Int32) {
        var (validity, indexes) = (takeValidity(), BatchValues<Int32>())
        swap(&indexes, &self.indexes)
        indexes.append(rows.count, zero: 0) { indexes, start in
            for place in 0..<rows.count {
                let index = get(rows[place])
                validity.append(index >= 0)
                indexes[start &+ place] = max(index, 0)
            }
        }
        swap(&indexes, &self.indexes)
        self.validity = validity
    }

    private func place(of text: ExactText) -> Int32 {
        if let known = places[text] { return known }
        let index = newPlace(of: text.text)
        places[text] = index
        return index
    }

    private func newPlace(of text: String) -> Int32 {
        let index = Int32(clamping: dictionary.count)
        dictionary.bytes += text.utf8
        dictionary.offsets.append(Int32(clamping: dictionary.bytes.count))
        return index
    }

    override func takeData() -> ColumnData {
        .dictionary(indexes: indexes.take(isReused: isReused), dictionary)
    }
}

/// A text that equals only the same bytes; in Swift, texts with different bytes may be equal.
private struct ExactText: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

final class ListBuilder: ColumnBuilder {
    private var offsets: [Int32] = [0]
    private let texts = TextBuilder()
    private var numbers: [UInt64] = []
    private let hasNumbers: Bool

    init(hasNumbers: Bool) { self.hasNumbers = hasNumbers }

    override var byteCount: Int { texts.byteCount + numbers.count * 8 + offsets.count * 4 }

    func append(_ list: some Sequence<String>) {
        var count = 0
        for text in list {
            texts.append(text)
            count += 1
        }
        end(count)
    }

    func append(_ list: some Sequence<UInt64>) {
        let count = numbers.count
        numbers += list
        end(numbers.count - count)
    }

    private func end(_ count: Int) {
        validity.append(true)
        offsets.append((offsets.last ?? 0) &+ Int32(clamping: count))
    }

    override func takeData() -> ColumnData {
        defer { (offsets, numbers) = ([0], []) }
        return .list(offsets: offsets, hasNumbers ? .uint64(numbers) : texts.takeData())
    }
}
