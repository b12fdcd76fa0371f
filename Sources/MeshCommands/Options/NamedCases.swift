public import ArgumentParser
public import MeshLedger
public import Meshtastic

/// An enumeration whose cases are given by their names, in any case.
private func named<Case: CaseIterable>(_ argument: String) -> Case? {
    Case.allCases.first { "\($0)".lowercased() == argument.lowercased() }
}

private func names<Case: CaseIterable>(of cases: Case.Type) -> [String] { cases.allCases.map { "\($0)" } }

extension TelemetryKind: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found: Self = named(argument) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { names(of: Self.self) }
}

extension SensorKind: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found: Self = named(argument) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { names(of: Self.self) }
}

extension RadioPart: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found: Self = named(argument) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { names(of: Self.self) }
}
