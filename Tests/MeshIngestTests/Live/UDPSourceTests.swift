import EventLog
import Foundation
import MeshLedger
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
            "$2" -c "$3" \(count)
            until "$0" stats --format csv | grep -q 'events,\(count)'; do kill -0 $LISTENER || exit 4; sleep 0.1; done
            kill $OTHER; kill -TERM $LISTENER; wait $LISTENER
            """,
            [try BuiltProgram.url().path, folder.path, OraclePython.path ?? "", Self.sender], ledger: ledger, home: folder.path)
        let errors = try String(contentsOf: folder.file("errors"), encoding: .utf8)
        #expect(outcome.status == 0, "\(outcome.text) \(errors)")
        #expect(errors.contains("\(count) of \(count) packets stored"))
        let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
        let payloads = try log.allEvents().map { Array($0.payload) }
        #expect(payloads == (0..<UInt32(count)).map { [0x0d] + MadeEnvelope.little($0) })
        #expect(try log.sources().map(\.name) == ["udp:4403/127.0.0.1"])
        await log.close()
    }

    @Test func `a group that is no multicast address is refused`() async throws {
        let bench = try ImportBench()
        var options = UDPOptions()
        options.groups = ["10.0.0.1"]
        await #expect(throws: IngestError.self) { try await UDPSource(options, into: bench.target).run() }
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
