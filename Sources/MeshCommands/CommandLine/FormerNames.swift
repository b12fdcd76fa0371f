/// Renamed commands and options, which keep working under their former names until the next release.
enum FormerNames {
    static let current: [String: [String]] = [
        "compact": ["storage", "compact"], "consumers": ["follow", "consumers"], "hardware": ["nodes", "models"],
        "limit": ["storage", "limit"], "mapreports": ["gateways", "mapreports"], "neighbors": ["links", "neighbors"],
        "nodehistory": ["nodes", "history"], "quarantine": ["view", "quarantine"], "radios": ["nodes", "radios"],
        "rebuild": ["view", "rebuild"], "retain": ["storage", "retain"], "schema": ["view", "schema"],
        "seal": ["storage", "seal"], "sensors": ["telemetry", "sensors"], "timeline": ["nodes", "timeline"],
        "traceroutes": ["links", "traceroutes"], "verify-proof": ["prove", "check"],
    ]

    /// The commands whose --output was called --to.
    private static let toOutput = [["simulate"], ["export"], ["service", "install"]]

    /// The arguments, with the current names of the command and its options.
    static func replaced(in arguments: [String]) -> [String] {
        guard let first = arguments.first else { return [] }
        if first == "help" { return [first] + replaced(in: Array(arguments.dropFirst())) }
        let arguments = (current[first] ?? [first]) + arguments.dropFirst()
        guard toOutput.contains(where: { arguments.starts(with: $0) }) else { return arguments }
        return arguments.map { argument in
            argument == "--to" ? "--output" : argument.hasPrefix("--to=") ? "--output=" + argument.dropFirst(5) : argument
        }
    }
}
