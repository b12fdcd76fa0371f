import ArgumentParser

/// `--where`, which every command has that chooses rows by their values.
struct ConditionOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only rows that match; =, !=, <, <=, >, >=, ~ (contains). != also holds for rows without a value, unlike SQL's <>. Repeated conditions must all match.",
            valueName: "column=value"),
        completion: NameCompletion.conditions, transform: RowCondition.parsed)
    var conditions: [RowCondition] = []
}
