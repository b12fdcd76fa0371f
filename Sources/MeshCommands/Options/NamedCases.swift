public import ArgumentParser
public import MeshLedger
import MeshTables
public import Meshtastic

/// An enumeration whose cases are given by their names, in any case, or as SQL writes them: `air_quality`.
private func named<Case: CaseIterable>(_ argument: String) -> Case? {
    Case.allCases.first { "\($0)".lowercased() == argument.lowercased() || "\($0)".snakeCased == argument }
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
