import MeshCommands

/// All of `meshledger`, with one more view: `custom-view view port-use --where packets>10`.
@main
struct Main {
    static func main() async { await MeshLedgerCommand.main(views: [PortUses.self]) }
}
