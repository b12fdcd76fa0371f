import EventLog
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// The control protocol's version 1, as `CONTROL.md` states it: other versions of this program speak it, too.
struct ControlFrames {
    private static let event = NewEvent([1, 2], encoding: .note, source: SourceID(rawValue: 300))
    private static let recorded = NewEvent(
        [UInt8](repeating: 7, count: 130), encoding: PayloadEncoding(rawValue: 255), source: .log,
        reception: .recorded(Timestamp(microseconds: -5)))
    private static let masked = NewEvent([], encoding: .gap, source: .log, reception: .unrecorded, isMasked: true)

    private static let sevens = String(repeating: "07", count: 130)

    private static func requests() throws -> [(ControlRequest, String)] {
        let ranges = [EventSequence(2)...EventSequence(5), EventSequence(900)...EventSequence(900)]
        let psk = [UInt8](repeating: 9, count: 2)
        return [
            (.hello(lowest: 1, highest: 300), "0a05080110ac02"),
            (.append([], cursor: nil, token: nil), "1200"),
            (
                .append([event, recorded, masked], cursor: SourceCursor(key: "k", value: [1]), token: nil),
                "12b7010a090a020102100218ac020a95010a8201" + sevens
                    + "10ff01180020fbffffffffffffffff010a0a0a00100118002801300112060a016b120101"
            ),
            (.append([], cursor: SourceCursor(key: "k", value: [], expected: .nothing), token: nil), "120912070a016b12001801"),
            (
                .append(
                    [], cursor: SourceCursor(key: "", value: [1], expected: .value([])), token: AppendToken(first: 0, checksum: 9)
                ), "121612070a0012010122001a0b0800110900000000000000"
            ),
            (.source(named: "mqtt"), "1a060a046d717474"), (.cursor(key: ""), "22020a00"), (.catchUp, "2a00"),
            (
                .changeKeys(
                    .addChannels([try ChannelKey(name: "A", psk: psk), try ChannelKey(name: "", psk: [1], isAEAD: true)])),
                "32120a070a0141120209090a070a001201011801"
            ),
            (
                .changeKeys(.addPrivateKey(try PrivateKey(node: nil, key: [UInt8](repeating: 3, count: 32)))),
                "322412220a200303030303030303030303030303030303030303030303030303030303030303"
            ),
            (
                .changeKeys(.addPrivateKey(try PrivateKey(node: 7, key: [UInt8](repeating: 3, count: 32)))),
                "322612240a2003030303030303030303030303030303030303030303030303030303030303031007"
            ),
            (.changeKeys(.removeChannels(named: "A", fingerprint: nil)), "32051a030a0141"),
            (.changeKeys(.removeChannels(named: "", fingerprint: .max, isAEAD: false)), "320f1a0d0a0011ffffffffffffffff1800"),
            (.changeKeys(.removeChannels(named: "", fingerprint: 0, isAEAD: true)), "320f1a0d0a001100000000000000001801"),
            (.changeKeys(.removePrivateKeys(node: nil)), "32022200"),
            (.changeKeys(.removePrivateKeys(node: .max)), "3208220608ffffffff0f"),
            (.rebuild(views: []), "3a00"),
            (.rebuild(views: ["nodes", "messages"], keepsOld: true), "8a01110a056e6f6465730a086d65737361676573"),
            (.goBack(views: ["nodes", ""]), "8201090a056e6f6465730a00"), (.seal, "4200"), (.compact, "4a00"), (.status, "5200"),
            (.sources, "920100"),
            (.erase(ranges, reason: "r", request: "q"), "5a140a04080210050a060884071084071201721a0171"),
            (.erase([], reason: "", request: "", forgetting: .node(ErasedNode(.max))), "5a0c12001a0020ffffffff0f2800"),
            (
                .erase([], reason: "", request: "", forgetting: .node(ErasedNode(0, includesMentions: true))),
                "5a0812001a0020002801"
            ),
            (.erase([], reason: "", request: "", forgetting: .packet(ErasedPacket(id: 5))), "5a0612001a003005"),
            (.erase([], reason: "", request: "", forgetting: .packet(ErasedPacket(id: 5, sender: 0))), "5a0812001a0030053800"),
            (.retain(through: EventSequence(256), keeping: []), "6203088002"),
            (.retain(through: .zero, keeping: [1, .max]), "620f0800100110ffffffffffffffffff01"),
            (.importRecording(file: "/r"), "6a040a022f72"), (.annotate([], .archive), "72021002"),
            (.annotate([.note(7, "n"), .note(8, nil)], .refuse), "72150a080d070000003a016e0a070d080000003a001000"),
            (.revert(EventSequence(300)), "7a0308ac02"), (.unknown(900), "a23800"),
        ]
    }

    private static let replies: [(ControlReply, String)] = [
        (.progress(ControlProgress(start: 0, position: 300, target: 301)), "0a08080010ac0218ad02"), (.alive, "1200"),
        (.answer(ControlAnswer()), "1a00"),
        (.answer(ControlAnswer(numbers: [0, .max], bytes: [])), "1a0f080008ffffffffffffffffff011200"),
        (.answer(ControlAnswer(numbers: [], bytes: [1, 2])), "1a0412020102"),
        (.failure(.control(ControlError(.unreachable, path: "p"))), "220510001a0170"),
        (.failure(.control(ControlError(.protocolBroken, path: "", "why"))), "220910051a002203776879"),
        (.failure(.log(EventLogError(.storage, path: "p"))), "2207080110001a0170"),
        (
            .failure(
                .log(
                    EventLogError(
                        .outcomeUnknown, path: "p", detail: "d", token: AppendToken(first: 3, checksum: 1), holder: 4))),
            "22190801100f1a01702201642804320b0803110100000000000000"
        ),
        (.failure(.ledger(LedgerError(.beyondRetention, path: "p", "text"))), "220d080210111a0170220474657874"),
        (
            .failure(.ledger(LedgerError(.locked, path: "p", "text", holder: -1))),
            "2218080210031a017022047465787428ffffffffffffffffff01"
        ),
    ]

    private static let health: [(LedgerHealth, String)] = {
        var log = LogHealth(sizeLimit: 1 << 40)
        (log.logBytes, log.otherBytes, log.slowedCommits, log.failedCommits) = (1, 2, 3, 4)
        (log.lastFailure, log.isDegraded, log.areWritesClosed, log.clearedReaders) = ("full", true, true, 5)
        log.readers = [
            LogReading(process: 9, file: "log", commitsBehind: 6, duration: nil),
            LogReading(process: -1, file: "nodes", commitsBehind: 0, duration: .milliseconds(300)),
        ]
        var whole = LedgerHealth(process: 1, log: log)
        (whole.failedFolds, whole.foldFailure, whole.foldedThrough) = (7, "why", 8)
        return [
            (LedgerHealth(process: 1, log: LogHealth(sizeLimit: 0)), "080010001800200028003800400048005800"),
            (
                whole,
                "088080808080201001180220032804320466756c6c380140014805"
                    + "5209080912036c6f671806521708ffffffffffffffffff0112056e6f646573180020ac02580762037768796808"
            ),
        ]
    }()

    @Test func `the bytes of requests, replies and health are those of the protocol, and cut ones are refused or harmless`()
        throws
    {
        for (request, frame) in try Self.requests() {
            #expect(Hexadecimal.text(request.bytes) == frame)
            #expect(try read(request.bytes).bytes == request.bytes)
            for count in 0..<request.bytes.count { _ = try? read(Array(request.bytes.prefix(count))) }
        }
        for (reply, frame) in Self.replies {
            #expect(Hexadecimal.text(reply.bytes) == frame)
            let again = try ControlReply(reply.bytes.rawSpan, path: "")
            #expect(again.bytes == reply.bytes)
        }
        for (health, frame) in Self.health {
            #expect(Hexadecimal.text(health.bytes) == frame)
            let again = try LedgerHealth(health.bytes.rawSpan, process: 1)
            #expect(again == health)
        }
    }

    @Test func `each error has a number of its own`() {
        #expect(Set(ControlFailure.logCodes) == Set(EventLogError.Code.allCases))
        #expect(ControlFailure.logCodes.count == EventLogError.Code.allCases.count)
        #expect(Set(ControlFailure.ledgerCodes) == Set(LedgerError.Code.allCases))
        #expect(ControlFailure.ledgerCodes.count == LedgerError.Code.allCases.count)
    }

    /// A message of the given kind.
    private func body(_ kind: UInt32, _ write: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        writer.message(kind, write)
        return writer.bytes
    }

    private func read(_ bytes: [UInt8]) throws -> ControlRequest { try ControlRequest(bytes.rawSpan, path: "p") }

    private func expect(_ request: ControlRequest, of kind: UInt32, _ write: (inout WireWriter) -> Void) throws {
        #expect("\(try read(body(kind, write)))" == "\(request)")
    }

    private func refusal(_ bytes: [UInt8]) -> String? {
        #expect(throws: (any Error).self) { _ = try read(bytes) }.map { "\($0)" }
    }

    private func refusal(_ kind: UInt32, _ write: (inout WireWriter) -> Void) -> String? { refusal(body(kind, write)) }

    @Test func `numbers are clamped, unknown fields and codes are harmless, and impossible requests are refused`() throws {
        try expect(.hello(lowest: .max, highest: .max), of: 1) { hello in
            hello.varint(1, .max)
            hello.varint(2, 1 << 32)
            hello.varint(9, 1)
        }
        let event = NewEvent([], encoding: .note, source: SourceID(rawValue: 5))
        try expect(.append([event], cursor: nil, token: nil), of: 2) { append in
            append.message(1) { event in
                event.string(9, "of a later version")
                event.varint(2, 258)
                event.varint(3, 1 << 32 + 5)
            }
            append.message(9) { _ in }
        }
        let node = ErasureSubject.node(ErasedNode(5, includesMentions: true))
        try expect(.erase([], reason: "", request: "", forgetting: node), of: 11) { erase in
            erase.varint(4, 1 << 32 + 5)
            erase.varint(5, 2)
        }
        try expect(.annotate([], .refuse), of: 14) { $0.varint(2, 257) }
        #expect(refusal(14) { $0.bytes(1, [255]) } == "an annotation that cannot be read")
        #expect(refusal(6) { _ in } == "a change of keys that changes nothing")
        #expect(refusal(6) { $0.message(1) { $0.bytes(2, [UInt8](repeating: 1, count: 33)) } } == "\(KeyError.wrongLength(33))")
        #expect(refusal(6) { $0.message(2) { $0.bytes(1, [1]) } } == "\(KeyError.wrongLength(1))")
        #expect(
            refusal(11) {
                $0.message(1) { range in
                    range.varint(1, 3)
                    range.varint(2, 2)
                }
            } == "a range that ends before it begins")
        for bytes in [[], [8, 1]] as [[UInt8]] { #expect(refusal(bytes) == "an empty request") }
    }

    @Test func `failures with unknown layers and codes are failures, and health beyond its numbers is clamped`() throws {
        func failure(_ layer: UInt64, _ code: UInt64) throws -> String {
            let bytes = body(4) { failure in
                failure.varint(1, layer)
                failure.varint(2, code)
            }
            return "\(try ControlReply(bytes.rawSpan, path: "p"))"
        }
        func shown(_ failure: ControlFailure) -> String { "\(ControlReply.failure(failure))" }
        #expect(try failure(0, .max) == shown(.control(ControlError(.protocolBroken, path: "p"))))
        #expect(try failure(9, 1) == shown(.control(ControlError(.busy, path: "p"))))
        #expect(try failure(1, 99) == shown(.log(EventLogError(.storage, path: "p"))))
        #expect(try failure(2, 99) == shown(.ledger(LedgerError(.storage, path: "p", "p: it failed"))))
        let other = body(9) { _ in }
        let refused = #expect(throws: ControlError.self) { _ = try ControlReply(other.rawSpan, path: "p") }
        #expect(refused?.reason == "a reply of kind 9")
        var writer = WireWriter()
        for number in 1...3 as ClosedRange<UInt32> { writer.varint(number, .max) }
        writer.message(10) { reader in
            reader.varint(3, .max)
            reader.varint(4, .max)
        }
        let health = try LedgerHealth(writer.bytes.rawSpan, process: 1)
        #expect(health.log.sizeLimit == .max && health.log.logBytes == .max && health.log.otherBytes == .max)
        let reading = LogReading(process: 0, file: "", commitsBehind: .max, duration: .milliseconds(Int64.max))
        #expect(health.log.readers == [reading])
    }
}
