import EventLog
import Foundation
import MeshLedger
import ProtobufWire
import TestKit
import Testing

@testable import MeshIngest

/// Multicast inside a network of its own, which nothing leaves.
@Suite(
    .enabled(if: PrivateNetwork.isAllowed, "needs the right to make a network namespace, and a Python with the official decoder"),
    .timeLimit(.minutes(3)))
struct UDPSourceTests {
    /// Sends numbered datagrams to both groups in turn.
    private static let sender = """
        from sys import argv; import socket
        out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        for number in range(int(argv[1])):
            out.sendto(b"\\x0d" + number.to_bytes(4, "little"), (("224.0.0.69", "239.0.0.69")[number % 2], 4403))
        """

    @Test func `datagrams of both groups are stored beside another listener; a sender is a source`() async throws {
        let folder = try TemporaryFolder()
        let ledger = folder.path + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        let count = 400
        let outcome = try PrivateNetwork.run(
            """
            "$0" ingest udp 2> "$1/errors" & LISTENER=$!
            "$2" -c 'import time; import socket
            other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("", 4403)); time.sleep(60)' & OTHER=$!
            until grep -q listening "$1/errors"; do kill -0 $LISTENER || exit 3; sleep 0.05; done
            "$2" -c 'import socket
            other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            other.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
            for size in (0, 513, 1400): other.sendto(bytes([13]) * size, ("224.0.0.69", 4403))'
            "$2" -c "$3" \(count)
            until "$0" stats --format csv | grep -q 'events,\(count)'; do kill -0 $LISTENER || exit 4; sleep 0.1; done
            kill $OTHER; kill -TERM $LISTENER; wait $LISTENER
            """,
            [try BuiltProgram.url().path, folder.path, OraclePython.path ?? "", Self.sender], ledger: ledger, home: folder.path)
        let errors = try String(contentsOf: folder.file("errors"), encoding: .utf8)
        #expect(outcome.status == 0, "\(outcome.text) \(errors)")
        #expect(errors.contains("\(count) of \(count) events stored"))
        #expect(errors.contains("datagrams of other programs are ignored: a packet has 1 to 512 bytes (2 so far)"), "\(errors)")
        let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
        let payloads = try log.allEvents().map { Array($0.payload) }
        #expect(payloads == (0..<UInt32(count)).map { [0x0d] + MadeEnvelope.little($0) })
        #expect(try log.sources().map(\.name) == ["udp:4403/127.0.0.1"])
        await log.close()
    }

    @Test func `an interface that appears, goes and comes back is listened to each time`() async throws {
        let folder = try TemporaryFolder()
        let ledger = folder.path + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        // Both ends of a cable are in this network: what goes into one comes out of the other.
        let outcome = try PrivateNetwork.run(
            """
            PROGRAM=$0 FOLDER=$1 PYTHON=$2
            plug() {
                ip link add near type veth peer name far && ip addr add 10.9.1.1/24 dev near && ip addr add 10.9.1.2/24 dev far || exit 3
                for name in all near far; do
                    echo 1 > /proc/sys/net/ipv4/conf/$name/accept_local; echo 0 > /proc/sys/net/ipv4/conf/$name/rp_filter
                done
                ip link set near up && ip link set far up || exit 4
            }
            send() { "$PYTHON" -c "import socket
            out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton('10.9.1.2'))
            for number in range(50): out.sendto(bytes([13, $1, 0, 0, number]), ('224.0.0.69', 4403))" || exit 8; }
            heard() { until [ $(grep -c 'on near' "$FOLDER/errors") -ge $1 ]; do kill -0 $LISTENER || exit 5; sleep 0.1; done; }
            stored() { until "$PROGRAM" stats --format csv | grep -q "events,$1"; do kill -0 $LISTENER || exit 6; sleep 0.1; done; }
            "$PROGRAM" ingest udp --interface near 2> "$FOLDER/errors" & LISTENER=$!
            until grep -q 'no network interface' "$FOLDER/errors"; do kill -0 $LISTENER || exit 7; sleep 0.05; done
            plug; heard 1; send 1; stored 50
            ip link delete near; plug; heard 2; send 2; stored 100
            kill -TERM $LISTENER; wait $LISTENER
            """,
            [try BuiltProgram.url().path, folder.path, OraclePython.path ?? ""], ledger: ledger, home: folder.path)
        let errors = try String(contentsOf: folder.file("errors"), encoding: .utf8)
        #expect(outcome.status == 0, "\(outcome.text) \(errors)")
        #expect(errors.contains("100 of 100 events stored"), "\(errors)")
        #expect(errors.contains("there is no network interface near; it is used as soon as there is one"), "\(errors)")
    }

    @Test func `ten thousand datagrams a second are stored or counted as lost`() async throws {
        let folder = try TemporaryFolder()
        let ledger = folder.path + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        let count = 20_000
        let outcome = try PrivateNetwork.run(
            """
            "$0" ingest udp --interface lo 2> "$1/errors" & LISTENER=$!
            until grep -q listening "$1/errors"; do kill -0 $LISTENER || exit 3; sleep 0.05; done
            "$2" -c "$3" \(count) || exit 4
            "$2" -c "$4" "$0" \(count) || exit 5
            kill -TERM $LISTENER; wait $LISTENER
            """,
            [try BuiltProgram.url().path, folder.path, OraclePython.path ?? "", Self.flood, Self.counting], ledger: ledger,
            home: folder.path)
        let errors = try String(contentsOf: folder.file("errors"), encoding: .utf8)
        #expect(outcome.status == 0, "\(outcome.text) \(errors)")
        let (stored, lost) = try await Self.counts(ledger)
        #expect(stored + lost == count)
    }

    /// Sends so many datagrams, ten thousand a second.
    private static let flood = """
        from sys import argv; import socket, time
        out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        start = time.monotonic()
        for number in range(int(argv[1])):
            if number % 100 == 0: time.sleep(max(0, start + number / 10_000 - time.monotonic()))
            out.sendto(b"\\x0d" + number.to_bytes(4, "little") + bytes(100), ("224.0.0.69", 4403))
        """

    /// Waits until the listener has stored or lost so many.
    private static let counting = """
        from sys import argv, exit; import json, subprocess, time
        for _ in range(600):
            said = subprocess.run([argv[1], "status", "--format", "json"], stdout=subprocess.PIPE).stdout
            source = json.loads(said)[0] if said.startswith(b"[") else {}
            if source.get("stored", 0) + source.get("dropped", 0) >= int(argv[2]): exit(0)
            time.sleep(0.1)
        exit(1)
        """

    @Test func `datagrams that were lost before it was stopped are counted`() async throws {
        let folder = try TemporaryFolder()
        let ledger = folder.path + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        let count = 40_000
        // It ends once it has read what the system kept for it: then its line in the list of sockets shows an empty queue.
        let outcome = try PrivateNetwork.run(
            """
            "$0" ingest udp --interface lo 2> "$1/errors" & LISTENER=$!
            until grep -q listening "$1/errors"; do kill -0 $LISTENER || exit 3; sleep 0.05; done
            kill -STOP $LISTENER; "$2" -c "$3" \(count) || exit 4; kill -CONT $LISTENER
            until grep -q ':1133 00000000:0000 07 00000000:00000000' /proc/net/udp; do kill -0 $LISTENER || exit 5; sleep 0.02; done
            kill -TERM $LISTENER; wait $LISTENER
            """,
            [try BuiltProgram.url().path, folder.path, OraclePython.path ?? "", Self.sender], ledger: ledger, home: folder.path)
        let errors = try String(contentsOf: folder.file("errors"), encoding: .utf8)
        #expect(outcome.status == 0, "\(outcome.text) \(errors)")
        let (stored, lost) = try await Self.counts(ledger)
        #expect(stored + lost == count && lost > 0)
    }

    /// How many packets are stored, and how many its gaps count.
    private static func counts(_ ledger: String) async throws -> (stored: Int, lost: Int) {
        let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
        let events = try log.allEvents()
        let lost = events.compactMap { $0.header.encoding == .gap ? Gap(payload: $0.payload.rawSpan)?.count : nil }.reduce(0, +)
        await log.close()
        return (events.count { $0.header.encoding != .gap }, Int(lost))
    }

    @Test func `only the groups and interfaces that were asked for are listened to, whatever else other programs receive`()
        async throws
    {
        let folder = try TemporaryFolder()
        let ledger = folder.path + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        try Data("ledger: \(ledger)\nsources:\n  - udp: 239.0.0.69\n    interfaces: [lo]\n".utf8).write(to: folder.file("config"))
        let outcome = try PrivateNetwork.run(
            """
            ip link add near type veth peer name far && ip addr add 10.9.1.1/24 dev near && ip addr add 10.9.1.2/24 dev far || exit 3
            for name in all near far; do
                echo 1 > /proc/sys/net/ipv4/conf/$name/accept_local; echo 0 > /proc/sys/net/ipv4/conf/$name/rp_filter
            done
            ip link set near up && ip link set far up || exit 4
            "$0" run "$1/config" 2> "$1/errors" & LISTENER=$!
            until grep -q 'listening to 239.0.0.69 on lo' "$1/errors"; do kill -0 $LISTENER || exit 5; sleep 0.05; done
            timeout 60 "$2" -c "$3" || exit 6
            until "$0" stats --format csv | grep -q 'events,[1-9]'; do kill -0 $LISTENER || exit 7; sleep 0.1; done
            kill -TERM $LISTENER; wait $LISTENER
            """,
            [try BuiltProgram.url().path, folder.path, OraclePython.path ?? "", Self.others], ledger: ledger, home: folder.path)
        let errors = try String(contentsOf: folder.file("errors"), encoding: .utf8)
        #expect(outcome.status == 0, "\(outcome.text) \(errors)")
        let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
        #expect(try log.allEvents().map { String(decoding: $0.payload, as: UTF8.self) } == ["asked for"])
        await log.close()
    }

    /// Another program, which has joined another group, and the group at another interface. It waits until it has received each datagram.
    private static let others = """
        from socket import *
        def listener(group, address):
            other = socket(AF_INET, SOCK_DGRAM)
            other.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
            other.bind((group, 4403))
            other.setsockopt(IPPROTO_IP, IP_ADD_MEMBERSHIP, inet_aton(group) + inet_aton(address))
            return other
        def send(text, group, address, other):
            out = socket(AF_INET, SOCK_DGRAM)
            out.setsockopt(IPPROTO_IP, IP_MULTICAST_IF, inet_aton(address))
            out.sendto(text, (group, 4403))
            while other.recv(100) != text: pass
        first, second = listener("224.0.0.69", "127.0.0.1"), listener("239.0.0.69", "10.9.1.1")
        send(b"another group", "224.0.0.69", "127.0.0.1", first)
        send(b"another interface", "239.0.0.69", "10.9.1.2", second)
        socket(AF_INET, SOCK_DGRAM).sendto(b"no group", ("127.0.0.1", 4403))
        send(b"asked for", "239.0.0.69", "127.0.0.1", second)
        """

    @Test(arguments: [["10.0.0.1"], []])
    func `a group that is no multicast address, and no group at all, is refused`(_ groups: [String]) async throws {
        let bench = try ImportBench()
        var options = UDPOptions()
        options.groups = groups
        #expect(throws: IngestError.self) { try options.check() }
        if !groups.isEmpty { await #expect(throws: IngestError.self) { try await UDPSource(options, into: bench.target).run() } }
    }
}

/// A network namespace in which only the loopback interface exists, and carries multicast.
enum PrivateNetwork {
    private static let setUp = "ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && "

    static let isAllowed: Bool = {
        guard OraclePython.path != nil else { return false }
        let probe = try? FinishedProcess(URL(fileURLWithPath: "/usr/bin/unshare"), ["-n", "sh", "-c", setUp + "true"])
        return probe?.status == 0
    }()

    static func run(_ script: String, _ arguments: [String], ledger: String, home: String) throws -> FinishedProcess {
        try FinishedProcess(
            URL(fileURLWithPath: "/usr/bin/unshare"), ["-n", "sh", "-c", setUp + "{ " + script + "\n}"] + arguments,
            adding: ["MESHLEDGER": ledger, "HOME": home])
    }
}
