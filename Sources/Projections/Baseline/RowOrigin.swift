/// Rows that an older recipe built, from events up to `through` that retention has since dropped.
public struct RowOrigin: Sendable, Hashable {
    public var through: UInt64
    public var recipe: String

    public init(through: UInt64, recipe: String) {
        self.through = through
        self.recipe = recipe
    }
}

/// The recipes that built the rows of a view, if some were built by other recipes than its own.
public struct RowOrigins: Sendable, Hashable {
    /// The oldest events first.
    public private(set) var origins: [RowOrigin]

    public init(_ origins: [RowOrigin] = []) { self.origins = origins }

    public var isEmpty: Bool { origins.isEmpty }

    /// The older recipe that built the row of this event; nil for the view's own recipe.
    public func olderRecipe(of sequence: UInt64) -> String? { origins.first { sequence <= $0.through }?.recipe }

    /// The origins of a view of `recipe` that begins with rows of another recipe up to `through`.
    func followed(by other: String, through: UInt64, in recipe: String) -> RowOrigins {
        var all: [RowOrigin] = []
        for origin in origins + [RowOrigin(through: through, recipe: other)] {
            if all.last?.recipe == origin.recipe { all.removeLast() }
            all.append(origin)
        }
        if all.last?.recipe == recipe { all.removeLast() }
        return RowOrigins(all)
    }

    /// A line for each: the last sequence, a space, the recipe.
    var text: String { origins.map { "\($0.through) \($0.recipe)\n" }.joined() }

    init(text: String) {
        origins = text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let through = UInt64(words[0]) else { return nil }
            return RowOrigin(through: through, recipe: String(words[1]))
        }
    }
}
