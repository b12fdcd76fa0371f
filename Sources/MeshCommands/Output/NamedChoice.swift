import ArgumentParser

/// A choice that is given by its name, in any case.
protocol NamedChoice: ExpressibleByArgument, RawRepresentable, CaseIterable where RawValue == String {}

extension NamedChoice {
    init?(argument: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue.lowercased() == argument.lowercased() }) else { return nil }
        self = found
    }
}
