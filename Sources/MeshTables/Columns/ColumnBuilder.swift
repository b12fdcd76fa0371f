import FlatCollections
import ProtobufWire

/// Collects the values of one column of a batch.
///
/// Each subclass stores its values in one array of their type; `TableColumn` fills it in a loop that is specialised for the row's type.
public class ColumnBuilder {
    var validity = ValidityBits()

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

final class NumberBuilder<Value: ColumnNumber>: ColumnBuilder {
    private var values: [Value] = []
    /// As many as the last batch had.
    private var expected = 0

    override var byteCount: Int { values.count * MemoryLayout<Value>.stride }

    @inline(__always)
    func append<Row>(_ rows: [Row], _ get: (Row) -> Value) {
        fill(rows.count) { values, start in
            for index in rows.indices { values[start &+ index] = get(rows[index]) }
        }
        validity.append(valid: rows.count)
    }

    @inline(__always)
    func appendOptional<Row>(_ rows: [Row], _ get: (Row) -> Value?) {
        var validity = takeValidity()
        fill(rows.count) { values, start in
            for index in rows.indices {
                let value = get(rows[index])
                if let value { values[start &+ index] = value }
                validity.append(value != nil)
            }
        }
        self.validity = validity
    }

    /// Makes room for more values. The array is the caller's alone meanwhile, so that neither checks of access nor copies slow its loop.
    @inline(__always)
    private func fill(_ count: Int, _ body: (inout MutableSpan<Value>, Int) -> Void) {
        var values: [Value] = []
        swap(&values, &self.values)
        if values.isEmpty { values.reserveCapacity(expected) }
        let start = values.count
        values.append(contentsOf: repeatElement(.zero, count: count))
        var span = values.mutableSpan
        body(&span, start)
        swap(&values, &self.values)
    }

    override func takeData() -> ColumnData {
        expected = values.count
        defer { values = [] }
        return Value.data(values)
    }
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
    private var indexes: [Int32] = []
    private var expected = 0
    private var dictionary = ColumnDictionary()
    private var places: [ExactText: Int32] = [:]
    /// By number, one more than the index; 0 for a number without a text.
    private var codes = FlatMap()
    private var lastText: (text: ExactText, index: Int32)?

    override var byteCount: Int { indexes.count * 4 }
    override var dictionaryBytes: Int { dictionary.bytes.count + dictionary.count * 64 + codes.count * 48 }

    override func dropDictionary() { (dictionary, places, codes, lastText) = (ColumnDictionary(), [:], FlatMap(), nil) }

    @inline(__always)
    func append<Row>(_ rows: [Row], code: (Row) -> UInt32, name: (UInt32) -> String?) {
        var last: (code: UInt32, index: Int32)?
        fill(rows.count) { indexes, start in
            for place in rows.indices {
                let code = code(rows[place])
                if last?.code != code { last = (code, index(of: code, name)) }
                indexes[start &+ place] = last?.index ?? -1
            }
        }
    }

    private func index(of code: UInt32, _ name: (UInt32) -> String?) -> Int32 {
        if let known = codes[UInt64(code)] { return known - 1 }
        let index = name(code).map { place(of: ExactText($0)) } ?? -1
        codes.set(UInt64(code), index + 1)
        return index
    }

    @inline(__always)
    func append<Row>(_ rows: [Row], _ get: (Row) -> String?) {
        fill(rows.count) { indexes, start in
            for place in rows.indices { indexes[start &+ place] = index(of: get(rows[place])) }
        }
    }

    private func index(of text: String?) -> Int32 {
        guard let text = text.map(ExactText.init) else { return -1 }
        if let lastText, lastText.text == text { return lastText.index }
        let index = place(of: text)
        lastText = (text, index)
        return index
    }

    /// As in `NumberBuilder`.
    @inline(__always)
    private func fill(_ count: Int, _ body: (inout MutableSpan<Int32>, Int) -> Void) {
        var indexes: [Int32] = []
        swap(&indexes, &self.indexes)
        if indexes.isEmpty { indexes.reserveCapacity(expected) }
        let start = indexes.count
        indexes.append(contentsOf: repeatElement(-1, count: count))
        var span = indexes.mutableSpan
        body(&span, start)
        var validity = takeValidity()
        for place in start..<start + count {
            validity.append(span[place] >= 0)
            span[place] = max(span[place], 0)
        }
        self.validity = validity
        swap(&indexes, &self.indexes)
    }

    private func place(of text: ExactText) -> Int32 {
        if let known = places[text] { return known }
        let index = Int32(clamping: dictionary.count)
        dictionary.bytes += text.text.utf8
        dictionary.offsets.append(Int32(clamping: dictionary.bytes.count))
        places[text] = index
        return index
    }

    override func takeData() -> ColumnData {
        expected = indexes.count
        defer { indexes = [] }
        return .dictionary(indexes: indexes, dictionary)
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
