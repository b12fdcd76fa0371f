import ArgumentParser
import EventLog
import MeshLedger
import MeshTables
import Meshtastic

/// The lists of the mesh, in the order of the help.
///
/// A new list is a type in this file, and its line here or in the `noun` of another.
enum Lists {
    static let all: [any ParsableCommand.Type] = [
        NodeList.command, PositionList.command, TelemetryList.command, MessageList.command, WaypointList.command,
        LinkList.command, GatewayList.command, ChannelList.command,
    ]
}

struct PositionList: RowList {
    static let about = ListDescription(
        name: "positions", abstract: "Where nodes were, the newest positions first.",
        discussion: """
            `time` is the node's own clock if it is plausible (from a day before the packet was heard to 5 minutes after), otherwise the time when it was
            heard. `time_source` says which; the column `heard` (for --columns, --where and --sort) always has the latter. With --latest, since shows when the node came there: all its positions from then on are within 100 m of the newest.

              meshledger positions --latest
              meshledger positions --node '!19025c00'
              meshledger positions track --node '!19025c00' --since yesterday
              meshledger positions --node Rover --since yesterday --oldest-first --format csv
              meshledger positions --where 'altitude>1000' --sort altitude --reverse --limit 5
            """,
        noun: .init(abstract: "Where nodes were, and their tracks.", subcommands: [TrackList.command]))

    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Flag(help: "Only the newest position of each node.") var latest = false

    var askedNodes: [NodeArgument?] { [node] }

    /// With the name of each node; of the newest positions, also since when the node is there.
    func columns(_ request: ListRequest) throws -> [Column<PositionRow>] {
        var columns = try request.ledger.columns(PositionRow.self)
        columns.insert(contentsOf: try PositionRow.further(in: request.ledger) { $0 == "name" }, at: 1)
        columns.append(.heard(in: request.ledger, \.sequence))
        guard latest else { return columns }
        columns.removeAll { $0.name == "since" }
        let ledger = request.ledger
        let since = { (row: PositionRow) in ledger.stay(at: row) }
        let shown = { (row: PositionRow) in row.timeSource == .import ? TimeText.imported(Int64(since(row))) : nil }
        columns.insert(Column("since", isMain: true, shown: shown) { .time(since($0)) }, at: 3)
        for index in columns.indices where ["ground_speed", "ground_track", "satellites"].contains(columns[index].name) {
            columns[index].isDetail = true
        }
        for index in columns.indices where ["altitude", "precision_bits", "gateway"].contains(columns[index].name) {
            columns[index].isMinor = true
        }
        return columns
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (PositionRow) -> Void) throws {
        let number = try node?.number(in: ledger)
        if latest {
            try ledger.latestPositions(of: number.map { [$0] }, query).forEach(body)
        } else if number != nil {
            try ledger.forEachPosition(of: number, query, body)
        } else {
            try ledger.forEachPositionByTime(query, body)
        }
    }
}

struct WaypointList: RowList {
    static let about = ListDescription(
        name: "waypoints", abstract: "Places that nodes share: those on the map now.",
        discussion: """
            The one changed last comes first.

              meshledger waypoints
              meshledger waypoints --all --node '!19025c00' --format json
            """)

    @Option(help: "Only those that this node made, changed last or locked: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only those last changed on this channel.", completion: NameCompletion.channels) var channel: String?
    @Flag(help: "Also those that are deleted or expired.") var all = false

    var askedNodes: [NodeArgument?] { [node] }
    var emptyNote: String { all ? "no waypoints" : "no waypoints on the map; --all shows deleted and expired ones" }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (WaypointRow) -> Void) throws {
        let now = all ? nil : ledger.asOfTime ?? .now
        try ledger.waypoints(of: node?.number(in: ledger), activeAt: now, query.on(channel, in: ledger)).forEach(body)
    }
}

struct LinkList: RowList {
    static let about = ListDescription(
        name: "links", abstract: "Which node hears which directly, and how well, the most recently heard links first.",
        discussion: """
            Known from receptions without a hop (direct), from nodes' lists of their neighbours (reported) and from trace routes (traced); these
            counts are of all time, also where --since and --until choose links by when they were last heard. CSV and JSON also have how well each
            was heard over time.

              meshledger links
              meshledger links --hearer '!19025c00' --since '1d ago'
              meshledger links --node '!19025c00' --format json
              meshledger links neighbors '!19025c00'
            """,
        noun: .init(
            abstract: "Which node hears which, and how well; trace routes.",
            subcommands: [NeighborList.command, TraceRouteList.command]))

    @Option(help: "Only links of this node, in either direction: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only the nodes that this node hears: its neighbours.") var hearer: NodeArgument?
    @Option(help: "Only the nodes that hear this node.") var heard: NodeArgument?

    var askedNodes: [NodeArgument?] { [node, hearer, heard] }

    func columns(_ request: ListRequest) throws -> [Column<LinkRow>] {
        let columns = try request.ledger.columns(LinkRow.self) + LinkRow.further(in: request.ledger) { _ in true }
        return request.marking(["direct", "reported", "traced"], in: columns)
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (LinkRow) -> Void) throws {
        let (hearer, heard) = (try hearer?.number(in: ledger), try heard?.number(in: ledger))
        try ledger.links(of: node?.number(in: ledger), hearer: hearer, heard: heard, query).forEach(body)
    }
}

struct NeighborList: RowList {
    static let about = ListDescription(
        name: "neighbors", abstract: "The nodes that hear a node directly or are heard by it, both ways in one row.",
        discussion: """
            CSV and JSON also have how well each heard the other over time.

              meshledger links neighbors '!19025c00'
              meshledger links neighbors Rover --since '7d ago' --format json
            """)

    @Argument(help: "The node: !hex, a number, or its name.") var node: NodeArgument

    var askedNodes: [NodeArgument?] { [node] }

    func columns(_ request: ListRequest) throws -> [Column<Neighbor>] {
        request.marking(["hears_count", "heard_count"], in: Neighbor.columns(names: try NodeNames(request.ledger)))
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (Neighbor) -> Void) throws {
        let rows = try Neighbor.all(of: node.number(in: ledger), query, in: ledger)
        rows.dropFirst(query.offset).prefix(query.limit).forEach(body)
    }
}

struct TraceRouteList: RowList {
    static let about = ListDescription(
        name: "traceroutes",
        abstract: "Routes through the mesh that nodes requested, and how well each hop heard the previous one.",
        discussion: """
            A `?` is a hop that could not read the packet, or an unknown strength.

              meshledger links traceroutes
              meshledger links traceroutes --node '!19025c00' --since '1d ago' --format json
              meshledger links traceroutes --through '!19025c00'
            """)

    @Option(help: "Only those between this node and others: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only those whose route contains this node.") var through: NodeArgument?
    @Option(help: "Only those on this channel.", completion: NameCompletion.channels) var channel: String?

    var askedNodes: [NodeArgument?] { [node, through] }
    var emptyNote: String { "no trace routes" }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (TraceRouteRow) -> Void) throws {
        let hop = try through?.number(in: ledger)
        try ledger.traceRoutes(of: node?.number(in: ledger), through: hop, query.on(channel, in: ledger)).forEach(body)
    }
}

struct GatewayList: RowList {
    static let about = ListDescription(
        name: "gateways", abstract: "What each gateway heard and passed on, the most recently heard first.",
        discussion: """
            With --nodes, --by or --of: which gateway passed on what from which node. With --alone, how many packets each passed on that no other gateway
            did, and from how many nodes. With --since or --until, all counts are of the packets that were first heard within these times.

              meshledger gateways --since '1d ago'
              meshledger gateways --alone --since 7d
              meshledger gateways --by '!36072603'
              meshledger gateways --of '!19025c00' --format json
              meshledger gateways mapreports
            """,
        noun: .init(abstract: "What each gateway heard; its reports to the map.", subcommands: [MapReportList.command]))

    @Flag(help: "Each gateway and node that it heard.") var nodes = false
    @Option(help: "Each node that this gateway heard: !hex, a number, or its name.") var by: NodeArgument?
    @Option(help: "Each gateway that heard this node.") var of: NodeArgument?
    @Flag(help: "What each gateway saw that others missed.") var alone = false

    var askedNodes: [NodeArgument?] { [by, of] }

    func validate() throws {
        if alone, nodes || by != nil || of != nil { throw ValidationError("--alone is about all gateways and nodes") }
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (GatewayRow) -> Void) throws {
        try ledger.countedGateways(query).forEach(body)
    }

    private func leftOut(_ request: ListRequest) throws -> LeftOutRows? {
        try request.leftOutPackets(advice: "without --since and --until, all are counted")
    }

    func write(_ request: ListRequest) throws {
        let ledger = request.ledger
        if alone {
            let columns = try GatewayShare.columns(in: ledger)
            return try request.write(columns, emptyNote: emptyNote, leftOut: { _ in try leftOut(request) }) {
                query, body in
                try GatewayShare.all(query, in: ledger).dropFirst(query.offset).prefix(query.limit).forEach(body)
            }
        }
        guard nodes || by != nil || of != nil else {
            return try request.write(columns(request), emptyNote: emptyNote, leftOut: { _ in try leftOut(request) }) {
                try visit($0, in: ledger, $1)
            }
        }
        let columns = try ledger.columns(GatewayNodeRow.self)
        let (gateway, node) = (try by?.number(in: ledger), try of?.number(in: ledger))
        let note = Self.emptyNote(by: gateway, of: node)
        try request.write(columns, emptyNote: note, leftOut: { _ in try leftOut(request) }) {
            try ledger.countedGatewayNodes(by: gateway, of: node, $0).forEach($1)
        }
    }

    private static func emptyNote(by gateway: UInt32?, of node: UInt32?) -> String {
        switch (gateway.map { NodeID.text($0) }, node.map { NodeID.text($0) }) {
        case (nil, nil): "no gateway heard a node"
        case (nil, let node?): "no gateway heard \(node)"
        case (let gateway?, nil): "\(gateway) heard no node as a gateway"
        case (let gateway?, let node?): "\(gateway) did not hear \(node) as a gateway"
        }
    }
}

struct MapReportList: RowList {
    static let about = ListDescription(
        name: "mapreports", abstract: "What gateways report to the public map about themselves, the newest report of each.",
        discussion: """
              meshledger gateways mapreports
              meshledger gateways mapreports --node '!19025c00' --format json
            """)

    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only those with this primary channel.", completion: NameCompletion.channels) var channel: String?

    var askedNodes: [NodeArgument?] { [node] }
    var emptyNote: String { "no map reports" }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (MapReportRow) -> Void) throws {
        // These name channels that nobody here may have heard.
        let named = try channel.map {
            try KnownName.find($0, "channel", among: ledger.mapReports().map(\.channel).withoutRepeats)
        }
        var query = query
        query.channel = named
        try ledger.mapReports(of: node?.number(in: ledger), query).forEach(body)
    }
}

struct SensorList: RowList {
    static let about = ListDescription(
        name: "sensors",
        abstract: "What detection sensors, people counters, range tests and store-and-forward nodes sent, the newest first.",
        discussion: """
              meshledger telemetry sensors --kind detection --since '1d ago'
              meshledger telemetry sensors --node '!19025c00' --kind paxcounter --format csv
            """)

    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only this kind.") var kind: SensorKind?
    @Option(help: "Only packets on this channel.", completion: NameCompletion.channels) var channel: String?

    var askedNodes: [NodeArgument?] { [node] }
    var emptyNote: String { "no sensor data" }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (SensorRow) -> Void) throws {
        try ledger.sensors(of: node?.number(in: ledger), kind: kind, query.on(channel, in: ledger)).forEach(body)
    }
}

struct TimelineList: RowList {
    static let about = ListDescription(
        name: "timeline", abstract: "Everything that a node reported, of all kinds, the newest first.",
        discussion: """
              meshledger nodes timeline '!19025c00' --limit 20
              meshledger nodes timeline Rover --kind position --kind message --since yesterday --format jsonl
            """)

    @Option(help: "Only this kind; may be given several times.", completion: .list(Ledger.timelineKinds)) var kind: [String] = []
    @Argument(help: "The node: !hex, a number, or its name.") var node: NodeArgument

    var askedNodes: [NodeArgument?] { [node] }
    var emptyNote: String { "it reported nothing" }

    func validate() throws {
        if let other = kind.first(where: { !Ledger.timelineKinds.contains($0) }) {
            let there = "there are \(Ledger.timelineKinds.joined(separator: ", "))"
            let advice = KnownName.suggestion(for: other, among: Ledger.timelineKinds, then: there)
            throw ValidationError("\(other) is not a kind\(advice)")
        }
    }

    func columns(_ request: ListRequest) throws -> [Column<any ViewRow>] {
        let cells = try RowCells(request.ledger)
        return [
            Column("time", isOfImport: cells.isOfImport) { .time($0.time) },
            Column("kind") { .text($0.kind) },
            Column("sequence") { .unsigned($0.sequence) },
            Column("row", isText: true, shown: { cells.summary($0) }) { cells.object($0) },
        ]
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (any ViewRow) -> Void) throws {
        let kinds = kind.isEmpty ? Set(Ledger.timelineKinds) : Set(kind)
        try ledger.timeline(of: node.number(in: ledger), kinds: kinds, query).forEach(body)
    }
}

struct NodeHistoryList: RowList {
    static let about = ListDescription(
        name: "history",
        abstract: "What nodes announced about themselves: names, roles, hardware, firmware, public keys; the newest first.",
        discussion: """
            The first public key of a node is the one that counts. `other_key` is an alarm: another one was announced under its number, by a
            forger or by an owner who reset the device. `shared_key` marks a device that had another number before.

              meshledger nodes history --node '!19025c00'
              meshledger nodes history --alarms --since '7d ago'
            """)

    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Flag(help: "Only rows whose key is not the first one of its node, or belongs to another number.") var alarms = false

    var askedNodes: [NodeArgument?] { [node] }
    var emptyNote: String { alarms ? "no alarms" : "no history" }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (NodeChangeRow) -> Void) throws {
        let changes: NodeChanges? = alarms ? [.otherKey, .sharedKey] : nil
        try ledger.nodeHistory(of: node?.number(in: ledger), changes: changes, query).forEach(body)
    }
}

struct HardwareList: RowList {
    static let about = ListDescription(
        name: "models", abstract: "The reported hardware models, and their nodes.",
        discussion: """
            Several build targets may share a model; the list has those that radios reported to their clients.

              meshledger nodes models
              meshledger nodes models --model HELTEC_V3 --format json
            """, aliases: ["hardware"])

    @Option(help: "Only this model: its name or number.") var model: String?

    func columns(_ request: ListRequest) -> [Column<HardwareModelRow>] { HardwareModelRow.columns }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (HardwareModelRow) -> Void) throws {
        try ledger.hardware(model: model.map(HardwareModelRow.number)).chosen(query, by: \.time).forEach(body)
    }
}

struct RadioList: RowList {
    static let about = ListDescription(
        name: "radios", abstract: "What radios reported to their clients: configuration, channels, metadata; secrets are zeroed.",
        discussion: """
            The newest of each part; with --history also earlier ones.

              meshledger nodes radios
              meshledger nodes radios --part channel --history --format json
            """)

    @Option(help: "Only the radio behind this source: its name, or a part that only one name has.") var source: String?
    @Option(help: "Only this part.") var part: RadioPart?
    @Flag(help: "Also earlier reports of each part.") var history = false

    var emptyNote: String { "no radio reported anything about itself" }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (RadioRow) -> Void) throws {
        let number = try source.map { try EventRows.source($0, EventRows.sourceNames(ledger)) }
        try ledger.radios(source: number, part: part, isHistory: history, query).forEach(body)
    }
}

struct ChannelList: RowList {
    static let about = ListDescription(
        name: "channels", abstract: "The traffic of each channel, readable or not.",
        discussion: """
            Channels that no known key opens are listed by their hash on the wire; `meshledger keys add` adds a key. --since and --until choose channels by when they
            were last heard, and leave their counts as they are: `packets --since 1d --count-by channel` counts within these times.

              meshledger channels
              meshledger channels --where readable=false --sort packets --reverse
            """)

    func columns(_ request: ListRequest) throws -> [Column<ChannelRow>] {
        request.marking(["packets", "receptions"], in: try request.ledger.columns(ChannelRow.self))
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (ChannelRow) -> Void) throws {
        try ledger.channels().chosen(query, by: \.lastHeard).forEach(body)
    }
}

extension RowQuery {
    /// - Throws: where there is no such channel.
    func on(_ channel: String?, in ledger: Ledger) throws -> RowQuery {
        var query = self
        query.channel = try ledger.channel(named: channel)
        return query
    }
}
