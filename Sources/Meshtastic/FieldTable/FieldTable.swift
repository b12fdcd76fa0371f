/// The names and types of everything in the Meshtastic schemas of firmware 2.8.1 and 2.8.0: 183 messages, 1,279 fields, 86 enums.
///
/// ```swift
/// let table = FieldTable.standard
/// table.message(named: "meshtastic.Position")?.field(23)?.name  // "precision_bits"
/// table.enumeration(named: "HardwareModel")?.name(of: 43)        // "HELTEC_V3"
/// ```
/// The data are two texts that are unpacked once, on first use, in a few milliseconds.
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
        let messagePlaces = Self.places(of: sections.map { String($0.title.prefix { $0 != ":" }) })
        self.enums = enums
        self.enumPlaces = enumPlaces
        self.messagePlaces = messagePlaces
        messages = sections.map { section in
            let title = section.title.split(separator: ":")
            let oneofs = title.dropFirst().map(String.init)
            let fields = section.words.compactMap {
                Self.field($0, oneofs: oneofs, messages: messagePlaces, enums: enumPlaces)
            }
            return MessageDescription(name: title.first.map(String.init) ?? "", fields: fields)
        }
    }

    /// A title (the word after `>`) and the words up to the next one.
    private struct Section {
        var title: Substring
        var words: [Substring] = []
    }

    private static func sections(of text: String) -> [Section] {
        var sections: [Section] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            if word.first == ">" {
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
            let parts = word.split(separator: ":")
            guard parts.count == 2, let number = Int32(parts[0]) else { return nil }
            return EnumDescription.Value(number: number, name: String(parts[1]))
        }
        return EnumDescription(name: String(section.title), values: values)
    }

    private static func field(
        _ word: Substring, oneofs: [String], messages: [String: Int], enums: [String: Int]
    ) -> FieldDescription? {
        let parts = word.split(separator: ":")
        guard parts.count >= 3, let number = UInt32(parts[0]) else { return nil }
        let type = parts[2]
        let kind: FieldKind?
        switch type.first {
        case "@": kind = messages[String(type.dropFirst())].map(FieldKind.message)
        case "#": kind = enums[String(type.dropFirst())].map(FieldKind.enumeration)
        default: kind = type.utf8.first.flatMap(FieldKind.init(letter:))
        }
        guard let kind else { return nil }
        return FieldDescription(
            number: number, name: String(parts[1]), kind: kind, presence: presence(parts.count > 3 ? parts[3] : "", oneofs))
    }

    private static func presence(_ flags: Substring, _ oneofs: [String]) -> FieldDescription.Presence {
        for flag in flags {
            if flag == "*" { return .repeated }
            if flag == "?" { return .explicit }
            if let place = flag.wholeNumberValue, place < oneofs.count { return .oneof(oneofs[place]) }
        }
        return .implicit
    }
}
