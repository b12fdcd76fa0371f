/// As JSON: `{"channel":0}`, or `{"direct":[305419896,2882400001]}`.
extension MessageThread: Codable {
    private enum CodingKeys: String, CodingKey {
        case channel, direct
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let number = try container.decodeIfPresent(UInt32.self, forKey: .channel) {
            self = .channel(number)
            return
        }
        let nodes = try container.decode([UInt32].self, forKey: .direct)
        guard nodes.count == 2 else {
            throw DecodingError.dataCorruptedError(
                forKey: .direct, in: container, debugDescription: "a direct thread is of two nodes, not of \(nodes.count)")
        }
        self.init(between: nodes[0], and: nodes[1])
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .channel(let number): try container.encode(number, forKey: .channel)
        case .direct(let low, let high): try container.encode([low, high], forKey: .direct)
        }
    }
}
