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

    /// Returns the values so far and begins a new batch.
    final func finish() -> ColumnArray {
        let (bits, count, nullCount) = (validity.bits, validity.count, validity.nullCount)
        validity = ValidityBits()
        return ColumnArray(count: count, nullCount: nullCount, validity: nullCount == 0 ? [] : bits, data: takeData())
    }
}

/// Which values are not null.
struct ValidityBits {
    /// Empty until the first null.
    private(set) var bits: [UInt8] = []
    private(set) var count = 0
    private(set) var nullCount = 0

    @inline(__always)
    mutating func append(_ isValid: Bool) {
        if isValid && bits.isEmpty {
            count &+= 1
        } else {
            appendBit(isValid)
        }
    }

    private mutating func appendBit(_ isValid: Bool) {
        if bits.isEmpty {
            bits = [UInt8](repeating: 0xff, count: count / 8)
            if count % 8 > 0 { bits.append(1 << UInt8(count % 8) - 1) }
        }
        if count & 7 == 0 { bits.append(0) }
        if isValid { bits[count >> 3] |= 1 << UInt8(count & 7) } else { nullCount &+= 1 }
        count &+= 1
    }
}

final class NumberBuilder<Value: ColumnNumber>: ColumnBuilder {
    private var values: [Value] = []

    override var byteCount: Int { values.count * MemoryLayout<Value>.stride }

    /// Adds values; the arrays are the caller's alone meanwhile, so that neither checks of access nor copies slow its loop.
    @inline(__always)
    func fill(_ add: (inout [Value], inout ValidityBits) -> Void) {
        var (values, validity) = (values, validity)
        (self.values, self.validity) = ([], ValidityBits())
        add(&values, &validity)
        (self.values, self.validity) = (values, validity)
    }

    override func takeData() -> ColumnData {
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
    private var dictionary = ColumnDictionary()
    private var places: [ExactText: Int32] = [:]
    /// By number; -1 for a number without a text.
    private var codes: [UInt32: Int32] = [:]
    private var lastCode: (code: UInt32, index: Int32)?
    private var lastText: (text: ExactText, index: Int32)?

    override var byteCount: Int { indexes.count * 4 }
    override var dictionaryBytes: Int { dictionary.bytes.count + dictionary.count * 64 + codes.count * 16 }

    override func dropDictionary() {
        (dictionary, places, codes, lastCode, lastText) = (ColumnDictionary(), [:], [:], nil, nil)
    }

    func append(code: UInt32, name: (UInt32) -> String?) {
        if let lastCode, lastCode.code == code { return append(index: lastCode.index) }
        let index: Int32
        if let known = codes[code] {
            index = known
        } else {
            index = name(code).map { place(of: ExactText($0)) } ?? -1
            codes[code] = index
        }
        lastCode = (code, index)
        append(index: index)
    }

    func append(_ text: String?) {
        guard let text = text.map(ExactText.init) else { return append(index: -1) }
        if let lastText, lastText.text == text { return append(index: lastText.index) }
        let index = place(of: text)
        lastText = (text, index)
        append(index: index)
    }

    private func append(index: Int32) {
        validity.append(index >= 0)
        indexes.append(max(index, 0))
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

    func append(_ list: [String]) {
        for text in list { texts.append(text) }
        end(list.count)
    }

    func append(_ list: [UInt64]) {
        numbers += list
        end(list.count)
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
