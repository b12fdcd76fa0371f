import MeshCommands

/// The whole of `meshledger`, with one view more: `custom-view view port-use --where packets>10`.
@main
struct Main {
    static func main() async { await MeshLedgerCommand.main(views: [PortUses.self]) }
}
