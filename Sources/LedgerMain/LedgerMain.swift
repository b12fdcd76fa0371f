import MeshCommands

@main
struct LedgerMain {
    static func main() async { await MeshLedgerCommand.main(views: []) }
}
