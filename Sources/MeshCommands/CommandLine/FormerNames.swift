/// Renamed commands, which keep working under their former names until the next release.
enum FormerNames {
    static let current: [String: [String]] = [
        "compact": ["storage", "compact"], "consumers": ["follow", "consumers"], "hardware": ["nodes", "hardware"],
        "limit": ["storage", "limit"], "mapreports": ["gateways", "mapreports"], "neighbors": ["links", "neighbors"],
        "nodehistory": ["nodes", "history"], "quarantine": ["view", "quarantine"], "radios": ["nodes", "radios"],
        "rebuild": ["view", "rebuild"], "retain": ["storage", "retain"], "schema": ["view", "schema"],
        "seal": ["storage", "seal"], "sensors": ["telemetry", "sensors"], "timeline": ["nodes", "timeline"],
        "traceroutes": ["links", "traceroutes"], "verify-proof": ["prove", "check"],
    ]

    /// The arguments, with the command's current name.
    static func replaced(in arguments: [String]) -> [String] {
        guard let first = arguments.first else { return [] }
        if first == "help" { return [first] + replaced(in: Array(arguments.dropFirst())) }
        return (current[first] ?? [first]) + arguments.dropFirst()
    }
}
