import Foundation
import TestKit
import Testing

@testable import MeshCommands

extension EverydayTasks {
    private static let now = Int(Date().timeIntervalSince1970)
    private static let midnight = now / 86_400 * 86_400
    private static let broadcast = Int(UInt32.max)

    static var tasks: [Everyday] {
        [
            Everyday(
                number: 1, task: "bring these files in", line: "meshledger import captures/ more.jsonl.gz", help: "import",
                replacing: ["captures/ more.jsonl.gz": { _ in "captures/" }]
            ) { answer in
                for name in ["now.base64", "old.bin", "yesterday.base64"] {
                    #expect(answer.text.contains("\(name)") && answer.text.contains(": 0 events"), "\(answer.text)")
                }
                _ = try answer.mesh.run("meshledger init fresh.ledger")
                let fresh = try answer.mesh.run("meshledger import --ledger fresh.ledger captures/").text
                let all = answer.mesh.receptions.filter(\.isFirst).count
                let packets = Dictionary(grouping: answer.mesh.receptions) { "\($0.from) \($0.id)" }.values
                let closed = packets.filter { $0.allSatisfy { $0.port == nil } }
                let words = "\n\(grouped(all)) packets: \(grouped(all - closed.count)) readable, \(grouped(closed.count)) not\n"
                #expect(fresh.contains(words) && !closed.isEmpty, "\(words): \(fresh)")
                // Which keys would help, by the hashes that the packets state.
                let hashes = Dictionary(grouping: closed.compactMap { $0.first?.channelHash }) { $0 }.mapValues(\.count)
                for (hash, count) in hashes {
                    #expect(fresh.contains("hash \(hash) (\(grouped(count)))"), "\(hash) \(count): \(fresh)")
                }
            },
            Everyday(number: 2, task: "silent nodes", line: "meshledger nodes --silent 1d", help: "nodes") { answer in
                let silent = answer.mesh.rows("nodes").filter { $0["last_heard"] as? Int ?? 0 < now - 86_400 }
                answer.expect(
                    Set(try answer.rows().map { $0["node"] as? String }), Set(silent.map { nodeText($0["number"]) }),
                    isEmpty: silent.isEmpty)
            },
            Everyday(
                number: 3, task: "low batteries", line: "meshledger nodes --where 'battery < 20' --sort battery", help: "nodes"
            ) { answer in
                // The simulated batteries are well charged, so that the same is asked of a higher level, too.
                for level in [20, 60] {
                    let low = newestMetric(1, answer.mesh).filter { $0.value < level }
                    let line = answer.line.replacing("< 20", with: "< \(level)")
                    let rows = try EverydayAnswer(task: answer.task, mesh: answer.mesh, line: line, text: "").rows()
                    let levels = rows.map { $0["battery_level"] as? Int ?? -1 }
                    let found = Dictionary(uniqueKeysWithValues: zip(rows.map { $0["node"] as? String ?? "" }, levels))
                    answer.expect(found, low, isEmpty: level == 60 && low.isEmpty)
                    answer.expect(levels, levels.sorted())
                }
            },
            Everyday(number: 4, task: "where everybody is", line: "meshledger positions --latest", help: "positions") { answer in
                var newest: [String: (time: Int, place: String)] = [:]
                for row in answer.mesh.rows("positions") {
                    let time = row["time"] as? Int ?? 0
                    guard time >= newest[nodeText(row["node"])]?.time ?? 0 else { continue }
                    newest[nodeText(row["node"])] = (time, "\(row["latitude_e7"] ?? "") \(row["longitude_e7"] ?? "")")
                }
                func e7(_ degrees: Any?) -> Int { Int(((degrees as? Double ?? 0) * 1e7).rounded()) }
                let rows = try answer.rows()
                let places = rows.map { "\(seconds($0["time"])) \(e7($0["latitude"])) \(e7($0["longitude"]))" }
                let found = Dictionary(uniqueKeysWithValues: zip(rows.map { $0["node"] as? String ?? "" }, places))
                answer.expect(found, newest.mapValues { "\($0.time) \($0.place)" }, isEmpty: newest.isEmpty)
            },
            Everyday(
                number: 5, task: "the battery of a node",
                line: "meshledger telemetry --kind device --node Rover --since 7d --bucket 1h --mean battery_level --chart",
                help: "telemetry"
            ) { answer in
                var hours: [Int: [Double]] = [:]
                for row in device(answer.mesh) where row["node"] as? Int == Int(answer.mesh.rover) {
                    guard let time = row["time"] as? Int, time >= now - 7 * 86_400, let level = metrics(row)?.number(1) else {
                        continue
                    }
                    hours[time / 3_600 * 3_600, default: []].append(Double(level))
                }
                let plain = EverydayAnswer(
                    task: answer.task, mesh: answer.mesh, line: answer.line.replacing(" --chart", with: ""), text: answer.text)
                let found = Dictionary(
                    uniqueKeysWithValues: try plain.rows().compactMap { row in
                        (row["mean_battery_level"] as? Double).map { (seconds(row["time"]), Int($0.rounded())) }
                    })
                answer.expect(
                    found, hours.mapValues { Int(($0.reduce(0, +) / Double($0.count)).rounded()) }, isEmpty: hours.isEmpty)
            },
            Everyday(
                number: 6, task: "who hears this node", line: "meshledger links neighbors Rover --since '7d ago' --format json",
                help: "links neighbors"
            ) { answer in
                let rover = Int(answer.mesh.rover)
                let links = answer.mesh.rows("links").filter { ($0["time"] as? Int ?? 0) >= now - 7 * 86_400 }
                let expected = links.compactMap { row -> String? in
                    let (hearer, heard) = (row["hearer"] as? Int, row["heard"] as? Int)
                    return hearer == rover ? nodeText(heard) : heard == rover ? nodeText(hearer) : nil
                }
                let rows = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [EverydayMesh.Row] ?? []
                answer.expect(Set(rows.map { $0["neighbor"] as? String ?? "" }), Set(expected), isEmpty: expected.isEmpty)
            },
            Everyday(
                number: 7, task: "messages with a word",
                line: "meshledger messages --channel LongFast --contains water --columns time,name,text,gateways",
                help: "messages", replacing: ["water": { word($0) }]
            ) { answer in
                let word = word(answer.mesh)
                let expected = answer.mesh.rows("messages").filter { row in
                    row["channel"] as? String == "LongFast" && row["to"] as? Int == 0xffff_ffff
                        && (row["text"] as? String ?? "").lowercased().contains(word.lowercased())
                }
                let sorted = expected.sorted { ($0["time"] as? Int ?? 0) > ($1["time"] as? Int ?? 0) }
                answer.expect(
                    try answer.rows().map { seconds($0["time"]) }, sorted.map { $0["time"] as? Int ?? 0 }, isEmpty: sorted.isEmpty
                )
            },
            Everyday(
                number: 8, task: "all that mentions a node", line: "meshledger events --node Rover --mentions", help: "events"
            ) {
                answer in
                let rover = answer.mesh.rover
                let expected = answer.mesh.receptions.filter {
                    $0.from == rover || $0.to == rover || $0.gateway == rover || $0.named.contains(rover)
                }
                answer.expect(
                    Set(try answer.rows().map { $0["sequence"] as? Int ?? 0 }).intersection(
                        answer.mesh.receptions.map(\.sequence)), Set(expected.map(\.sequence)),
                    isEmpty: expected.isEmpty)
            },
            Everyday(
                number: 9, task: "a track as GPX",
                line: "meshledger export positions --node Rover --since yesterday --until today --format gpx", help: "export"
            ) { answer in
                let expected = answer.mesh.rows("positions").filter { row in
                    row["node"] as? Int == Int(answer.mesh.rover)
                        && (midnight - 86_400..<midnight).contains(row["time"] as? Int ?? 0)
                }
                answer.expect(answer.text.split(separator: "<trkpt").count - 1, expected.count, isEmpty: expected.isEmpty)
            },
            Everyday(number: 10, task: "the nodes of a date", line: "meshledger nodes --as-of 2025-09-15", help: "nodes") {
                answer in
                let then = seconds("2025-09-15T00:00:00Z")
                let heard = answer.mesh.receptions.filter { $0.heard <= then && $0.from != 0 }
                answer.expect(
                    Set(try answer.rows().map { $0["node"] as? String ?? "" }), Set(heard.map { nodeText(Int($0.from)) }),
                    isEmpty: heard.isEmpty)
            },
            Everyday(
                number: 11, task: "why a packet cannot be read", line: "meshledger packets show 4711", help: "packets",
                replacing: ["4711": { "\($0.receptions.first { $0.port == nil }?.sequence ?? 0)" }]
            ) { answer in
                let packet = answer.mesh.receptions.first { $0.port == nil }
                let words = "no known key opens it (channel hash \(packet?.channelHash ?? -1))"
                #expect(
                    answer.text.contains(words) && answer.text.contains("key would open it: `meshledger keys add"),
                    "\(answer.text)")
            },
            Everyday(
                number: 12, task: "traffic as it comes, decoded", line: "meshledger packets --follow", help: "packets",
                replacing: ["--follow": { _ in "--follow --since 2025-01-01 --limit 300" }]
            ) { answer in
                var known: Set<String> = []
                let first = answer.mesh.receptions.filter { $0.from != 0 && $0.from != .max }
                    .sorted { $0.sequence < $1.sequence }
                    .filter { $0.id == 0 || known.insert("\($0.from) \($0.id)").inserted }.prefix(300)
                let rows = try answer.rows()
                answer.expect(
                    rows.map { $0["first_sequence"] as? Int ?? 0 }, first.map(\.sequence), isEmpty: first.isEmpty)
                answer.expect(rows.map { seconds($0["time"]) }, first.map(\.heard))
                let (closed, open) = (
                    rows.filter { $0["port"] as? String == "unreadable" }, rows.filter { !($0["content"] is NSNull) }
                )
                #expect(closed.allSatisfy { $0["content"] is NSNull } && !open.isEmpty)
                // Those that come in while it waits.
                let line = "meshledger packets --ledger live.ledger --follow --limit 20 --format csv > live.csv & waiting=$!; "
                _ = try answer.mesh.run("meshledger init live.ledger")
                let live = try answer.mesh.run(
                    line + "while [ ! -s live.csv ]; do sleep 0.05; done; "
                        + "meshledger simulate --ledger live.ledger --seed 9 --nodes 9 --packets 100 > simulated; wait $waiting")
                let printed = try String(contentsOf: answer.mesh.folder.file("live.csv"), encoding: .utf8)
                #expect(live.status == 0 && printed.split(separator: "\r\n").count == 21, "\(live.text) \(printed)")
            },
            Everyday(
                number: 13, task: "packets per hour, by port", line: "meshledger packets --since 30d --count-by hour,port",
                help: "packets"
            ) { answer in
                let starts = answer.mesh.packets.compactMap { $0.min { $0.heard < $1.heard } }.filter {
                    $0.isTimeKnown && $0.heard >= now - 30 * 86_400
                }
                let hours = Dictionary(grouping: starts) { $0.heard / 3_600 * 3_600 }.mapValues(\.count)
                var found: [Int: Int] = [:]
                for row in try answer.rows() { found[seconds(row["hour"]), default: 0] += row["count"] as? Int ?? 0 }
                answer.expect(found, hours, isEmpty: hours.isEmpty)
            },
            Everyday(
                number: 14, task: "top talkers", line: "meshledger packets --since 1d --count-by node --limit 10", help: "packets"
            ) { answer in
                let recent = answer.mesh.packets.compactMap { $0.min { $0.heard < $1.heard } }.filter {
                    $0.isTimeKnown && $0.heard >= now - 86_400
                }
                let counts = Dictionary(grouping: recent, by: \.from).mapValues(\.count)
                let top = counts.values.sorted(by: >).prefix(10)
                answer.expect(try answer.rows().map { $0["count"] as? Int ?? 0 }, Array(top), isEmpty: top.isEmpty)
                for row in try answer.rows() {
                    let node = counts.first { nodeText(Int($0.key)) == row["from"] as? String }
                    answer.expect(row["count"] as? Int, node?.value)
                }
            },
            Everyday(
                number: 15, task: "channel utilization over time",
                line: "meshledger telemetry --kind device --count-by hour,node --mean channel_utilization", help: "telemetry"
            ) { answer in
                let groups = Dictionary(grouping: device(answer.mesh)) {
                    "\(($0["time"] as? Int ?? 0) / 3_600 * 3_600) \(nodeText($0["node"]))"
                }
                let rows = try answer.rows()
                answer.expect(rows.count, groups.count, isEmpty: groups.isEmpty)
                for row in rows {
                    let group = groups["\(seconds(row["hour"])) \(row["node"] as? String ?? "")"] ?? []
                    let values = group.compactMap { metrics($0)?.float(3) }
                    let mean = values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
                    let found = row["mean_channel_utilization"] as? Double ?? 0
                    #expect(row["count"] as? Int == group.count && abs(found - mean) < 0.001, "\(row) \(mean)")
                }
            },
            Everyday(number: 16, task: "what changed", line: "meshledger diff old.ledger new.ledger", help: "diff") { answer in
                // What only the second ledger has is the recording that was imported last here.
                let later = answer.mesh.sequencesOfLastImport
                var added: [String: Int] = [:]
                for view in ["positions", "telemetry", "messages", "traceroutes"] {
                    added[view] = answer.mesh.rows(view).count { later.contains($0["sequence"] as? Int ?? 0) }
                }
                let senders = Set(
                    answer.mesh.receptions.filter { later.contains($0.sequence) && $0.from != 0 && $0.from != .max }.map(\.from))
                added["nodes"] = senders.count
                let rows = try answer.rows()
                let found = rows.map { ($0["view"] as? String ?? "", $0["added"] as? Int ?? -1) }.filter { added[$0.0] != nil }
                answer.expect(Dictionary(uniqueKeysWithValues: found), added, isEmpty: added.values.contains(0))
                // Rows of which only the time of the import is known may differ, as the ledgers were not imported in one second.
                let removed = rows.filter { added[$0["view"] as? String ?? ""] != nil && $0["removed"] as? Int != 0 }
                answer.expect(removed.map { "\($0)" }, [])
            },
            Everyday(
                number: 17, task: "decode this", line: "meshledger decode 0d005c021915ffffffff22080801120461686f79354d000000",
                help: "decode"
            ) { answer in
                // The packet that was written down: from !19025c00 to all, id 77, and a text.
                let values = answer.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                for value in ["1 from = 419585024 (!19025c00)", "2 to = 4294967295 (everyone)", "6 id = 77"] {
                    #expect(values.contains(value), "\(answer.text)")
                }
                #expect(values.contains { $0 == #"-> "ahoy""# }, "\(answer.text)")
            },
            Everyday(
                number: 18, task: "gateways that saw what others missed", line: "meshledger gateways --alone --since 7d",
                help: "gateways"
            ) { answer in
                let packets = answer.mesh.packets.filter { packet in
                    packet.min { $0.heard < $1.heard }.map { $0.isTimeKnown && $0.heard >= now - 7 * 86_400 } ?? false
                }
                var alone: [String: Int] = [:]
                for packet in packets {
                    let gateways = Set(packet.map(\.gateway).filter { $0 != 0 })
                    if gateways.count == 1, let only = gateways.first { alone[nodeText(Int(only)), default: 0] += 1 }
                }
                let found = Dictionary(
                    uniqueKeysWithValues: try answer.rows().map { ($0["gateway"] as? String ?? "", $0["alone"] as? Int ?? -1) })
                answer.expect(found.filter { $0.value > 0 }, alone, isEmpty: alone.isEmpty)
            },
            Everyday(
                number: 19, task: "delivery by hops",
                line: "meshledger messages --where 'to!=^all' --count-by hops --mean is_delivered",
                help: "messages"
            ) { answer in
                let direct = answer.mesh.rows("messages").filter { $0["to"] as? Int != broadcast }
                var counts: [Int: [Bool]] = [:]
                for row in direct {
                    let packet = answer.mesh.receptions.filter {
                        $0.from == UInt32(row["from"] as? Int ?? 0) && Int($0.id) == row["id"] as? Int
                    }
                    counts[packet.compactMap(\.hops).min() ?? -1, default: []].append(row["state"] as? String == "delivered")
                }
                let found = Dictionary(
                    uniqueKeysWithValues: try answer.rows().map { ($0["hops"] as? Int ?? -1, $0["count"] as? Int ?? 0) })
                answer.expect(found, counts.mapValues(\.count), isEmpty: counts.isEmpty)
            },
            Everyday(
                number: 20, task: "everything for analysis", line: "meshledger export all --format csv -o everything",
                help: "export"
            ) { answer in
                for view in ["nodes", "positions", "links", "gateways"] {
                    let text = try String(contentsOf: answer.mesh.folder.file("everything/\(view).csv"), encoding: .utf8)
                    answer.expect(text.split(separator: "\r\n").count - 1, answer.mesh.rows(view).count)
                }
            },
        ]
    }

    private static func grouped(_ count: Int) -> String { UInt64(count).grouped }

    /// A word of some message in LongFast.
    private static func word(_ mesh: EverydayMesh) -> String {
        let texts = mesh.rows("messages").filter { $0["channel"] as? String == "LongFast" }.map { $0["text"] as? String ?? "" }
        let words = texts.flatMap { $0.split(separator: " ") }.filter { $0.utf8.count > 3 && $0.allSatisfy { "a"..."z" ~= $0 } }
        return words.first.map(String.init) ?? "water"
    }

    private static func device(_ mesh: EverydayMesh) -> [EverydayMesh.Row] {
        mesh.rows("telemetry").filter { $0["kind"] as? String == "device" }
    }

    private static func metrics(_ row: EverydayMesh.Row) -> PlainFields? {
        let digits = Array(row["metrics"] as? String ?? "")
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        return PlainFields(Data(bytes))
    }

    /// Of each node the newest value that it reported.
    private static func newestMetric(_ field: Int, _ mesh: EverydayMesh) -> [String: Int] {
        var newest: [String: (time: Int, value: Int)] = [:]
        for row in device(mesh) {
            guard let value = metrics(row)?.number(field), let time = row["time"] as? Int else { continue }
            if newest[nodeText(row["node"])].map({ $0.time <= time }) ?? true {
                newest[nodeText(row["node"])] = (time, Int(value))
            }
        }
        return newest.mapValues(\.value)
    }
}
