/// The names and types of everything in the Meshtastic schemas of firmware 2.8.1 and 2.8.0: 183 messages, 1,279 fields, 86 enums.
///
/// ```swift
/// let table = FieldTable.standard
/// table.message(named: "meshtastic.Position")?.field(23)?.name  // "precision_bits"
/// table.enumeration(named: "HardwareModel")?.name(of: 43)        // "HELTEC_V3"
/// ```
/// The data are two texts that are unpacked once, on first use, in about a millisecond.
public struct FieldTable: Sendable {
    public let messages: [MessageDescription]
    public let enums: [EnumDescription]
    private let messagePlaces: [String: Int]
    private let enumPlaces: [String: Int]

    public static let standard = FieldTable(messages: packedMessages, enums: packedEnums)

    /// The message of this name, with or without `meshtastic.` before it.
    public func message(named name: String) -> MessageDescription? {
        messagePlaces[Self.short(name)].map { messages[$0] }
    }

    /// The enum of this name, with or without `meshtastic.` before it.
    public func enumeration(named name: String) -> EnumDescription? {
        enumPlaces[Self.short(name)].map { enums[$0] }
    }

    private static func short(_ name: String) -> String {
        name.hasPrefix("meshtastic.") ? String(name.dropFirst("meshtastic.".count)) : name
    }
}

extension FieldTable {
    init(messages packedMessages: String, enums packedEnums: String) {
        let enums = Self.sections(of: packedEnums).map(Self.enumeration)
        let sections = Self.sections(of: packedMessages)
        let enumPlaces = Self.places(of: enums.map(\.name))
        let messagePlaces = Self.places(of: sections.map { Self.text($0.title.prefix { $0 != Self.colon }) })
        self.enums = enums
        self.enumPlaces = enumPlaces
        self.messagePlaces = messagePlaces
        messages = sections.map { section in
            let title = section.title.split(separator: Self.colon)
            let oneofs = title.dropFirst().map(Self.text)
            let fields = section.words.compactMap {
                Self.field($0, oneofs: oneofs, messages: messagePlaces, enums: enumPlaces)
            }
            return MessageDescription(name: title.first.map(Self.text) ?? "", fields: fields)
        }
    }

    /// A part of the text, which is ASCII: bytes take a tenth of the time of characters.
    private typealias Word = Substring.UTF8View

    private static let colon = UInt8(ascii: ":")

    private static func text(_ word: Word) -> String { String(Substring(word)) }

    /// A title (the word after `>`) and the words up to the next one.
    private struct Section {
        var title: Word
        var words: [Word] = []
    }

    private static func sections(of text: String) -> [Section] {
        var sections: [Section] = []
        for word in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }) {
            if word.first == UInt8(ascii: ">") {
                sections.append(Section(title: word.dropFirst()))
            } else if !sections.isEmpty {
                sections[sections.count - 1].words.append(word)
            }
        }
        return sections
    }

    private static func places(of names: [String]) -> [String: Int] {
        Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func enumeration(_ section: Section) -> EnumDescription {
        let values = section.words.compactMap { word -> EnumDescription.Value? in
            let parts = word.split(separator: colon)
            guard parts.count == 2, let number = Int32(Substring(parts[0])) else { return nil }
            return EnumDescription.Value(number: number, name: text(parts[1]))
        }
        return EnumDescription(name: text(section.title), values: values)
    }

    private static func field(
        _ word: Word, oneofs: [String], messages: [String: Int], enums: [String: Int]
    ) -> FieldDescription? {
        let parts = word.split(separator: colon)
        guard parts.count >= 3, let number = UInt32(Substring(parts[0])) else { return nil }
        let type = parts[2]
        let kind: FieldKind?
        switch type.first {
        case UInt8(ascii: "@"): kind = messages[text(type.dropFirst())].map(FieldKind.message)
        case UInt8(ascii: "#"): kind = enums[text(type.dropFirst())].map(FieldKind.enumeration)
        default: kind = type.first.flatMap(FieldKind.init(letter:))
        }
        guard let kind else { return nil }
        return FieldDescription(
            number: number, name: text(parts[1]), kind: kind,
            presence: parts.count > 3 ? presence(parts[3], oneofs) : .implicit)
    }

    private static func presence(_ flags: Word, _ oneofs: [String]) -> FieldDescription.Presence {
        for flag in flags {
            if flag == UInt8(ascii: "*") { return .repeated }
            if flag == UInt8(ascii: "?") { return .explicit }
            if flag >= UInt8(ascii: "0"), Int(flag - UInt8(ascii: "0")) < oneofs.count {
                return .oneof(oneofs[Int(flag - UInt8(ascii: "0"))])
            }
        }
        return .implicit
    }
}
