import ArgumentParser
import MeshLedger
import Meshtastic

/// Selects events by what the index of the history knows of them.
struct SelectionOptions: ParsableArguments {
    @Option(help: "Only packets from or to this node: !hex, a number, or its name.") var node: NodeArgument?
    @Flag(
        help:
            "With --node: also packets that it published as a gateway (with these, all that `erase --mentions` erases), and those whose payload names it: routes, lists of neighbors, waypoints locked to it. For texts, see `search`."
    ) var mentions = false
    @Option(help: "Only packets that this node published.") var gateway: NodeArgument?
    @Option(help: "Only packets of this channel.", completion: NameCompletion.channels) var channel: String?
    @Option(help: "Only packets of this port: a name such as TEXT_MESSAGE_APP, or a number.") var port: PortArgument?
    @Option(help: ArgumentHelp("Only receptions of packets with this id.", valueName: "id")) var packet: UInt32?

    var isGiven: Bool { node != nil || gateway != nil || channel != nil || port != nil || packet != nil }

    /// Nil if no selection is given.
    /// - Parameter isLive: whether a channel that was never heard may be heard yet.
    func selection(in ledger: Ledger, isLive: Bool = false) throws -> EventSelection? {
        guard isGiven else { return nil }
        return EventSelection(
            node: try node?.number(in: ledger), roles: mentions ? .any : [.sender, .addressee],
            gateway: try gateway?.number(in: ledger), channel: try ledger.channel(named: channel, isLive: isLive),
            port: try port?.number(), packetID: packet)
    }
}

extension EventOrder.Clock: NamedChoice {}
