internal import CSQLiteExtension
internal import EventLog
internal import Foundation
internal import MeshLedger
internal import Meshtastic
internal import ProtobufWire

/// The SQL functions that MeshLedger adds.
enum SQLFunctions {
    final class Function {
        let call: ([SQLConstant]) throws -> SQLConstant

        init(_ call: @escaping ([SQLConstant]) throws -> SQLConstant) { self.call = call }
    }

    @unsafe static func register(on connection: OpaquePointer, _ session: SQLSession) throws {
        unsafe try add("node_id", 1, on: connection) { try nodeID($0[0]) }
        unsafe try add("node_number", 1, on: connection) { try nodeNumber($0[0]) }
        unsafe try add("haversine", 4, on: connection) { haversine($0) }
        let opener = EventOpener(session)
        unsafe try add("decode", 1, on: connection, isPure: false) { try opener.decode($0[0], .null) }
        unsafe try add("decode", 2, on: connection, isPure: false) { try opener.decode($0[0], $0[1]) }
        // It reads files, so views and triggers of somebody else's database must not call it.
        unsafe try add("meshledger_open", 1, on: connection, isPure: false, isDirectOnly: true) { arguments in
            guard case .text(let path) = arguments[0] else {
                throw SQLFailure(description: "meshledger_open('FOLDER') opens the ledger in a folder")
            }
            return .integer(Int64(try SQLTables.createTables(of: try session.show(path), path: path, session)))
        }
    }

    @unsafe private static func add(
        _ name: String, _ count: Int32, on connection: OpaquePointer, isPure: Bool = true, isDirectOnly: Bool = false,
        _ call: @escaping ([SQLConstant]) throws -> SQLConstant
    ) throws {
        let flags = (isPure ? SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS : 0) | (isDirectOnly ? SQLITE_DIRECTONLY : 0)
        let data = unsafe Unmanaged.passRetained(Function(call)).toOpaque()
        let status = unsafe sql_create_function(connection, name, count, flags, data, callFunction) { data in
            if let data = unsafe data { unsafe Unmanaged<Function>.fromOpaque(data).release() }
        }
        guard status == SQLITE_OK else { throw SQLFailure(description: "SQLite refuses the function \(name)") }
    }

    private static func number(_ value: SQLConstant) -> UInt32? {
        switch value {
        case .integer(let number): UInt32(exactly: number)
        case .real(let number): UInt32(exactly: number)
        case .text(let text): nodeNumber(typed: text)
        case .null, .bytes: nil
        }
    }

    /// Digits alone are a number, except that eight with a letter are an id without its `!`.
    private static func nodeNumber(typed text: String) -> UInt32? {
        let text = text.lowercased()
        if let number = NodeID.parse(text) { return number }
        guard text.utf8.first != UInt8(ascii: "+") else { return nil }
        if text.hasPrefix("0x") { return NodeID.parse("!" + text.dropFirst(2)) }
        return UInt32(text) ?? (text.utf8.count == 8 ? NodeID.parse("!" + text) : nil)
    }

    /// The id of a node, such as `!19025c00`, from its number or any spelling.
    private static func nodeID(_ value: SQLConstant) throws -> SQLConstant {
        number(value).map { .text(NodeID.text($0)) } ?? .null
    }

    private static func nodeNumber(_ value: SQLConstant) throws -> SQLConstant {
        number(value).map { .integer(Int64($0)) } ?? .null
    }

    /// The distance between two places in metres, on a sphere of the Earth's mean radius.
    private static func haversine(_ values: [SQLConstant]) -> SQLConstant {
        var degrees: [Double] = []
        for value in values {
            switch value {
            case .integer(let number): degrees.append(Double(number))
            case .real(let number): degrees.append(number)
            case .text, .bytes, .null: return .null
            }
        }
        guard degrees.count == 4, degrees.allSatisfy(\.isFinite) else { return .null }
        let radians = degrees.map { $0 * .pi / 180 }
        let (north, east) = (sin((radians[2] - radians[0]) / 2), sin((radians[3] - radians[1]) / 2))
        let chord = north * north + cos(radians[0]) * cos(radians[2]) * east * east
        return .real(2 * 6_371_008.8 * asin(min(1, chord.squareRoot())))
    }
}

/// Opens events for `decode`, with the keys of the connection's ledger.
private final class EventOpener {
    private let session: SQLSession
    private var opener: PacketOpener?

    init(_ session: SQLSession) { self.session = session }

    /// An event's bytes as JSON: a blob, or base64 as `payload_b64` is.
    /// - Parameter encoding: the name of their form; null to detect it.
    func decode(_ payload: SQLConstant, _ encoding: SQLConstant) throws -> SQLConstant {
        let bytes: [UInt8]
        switch payload {
        case .bytes(let blob): bytes = blob
        case .text(let text):
            guard let data = Data(base64Encoded: text) else { return .null }
            bytes = Array(data)
        case .null, .integer, .real: return .null
        }
        let opener = known()
        if case .text(let name) = encoding {
            guard let form = PayloadEncoding(exportName: name).flatMap({ CaptureForm(rawValue: $0.rawValue) }) else {
                return .null
            }
            return .text(dissected(bytes, form, opener).json.description)
        }
        let forms: [CaptureForm] = bytes.first == UInt8(ascii: "{") ? [.mqttJSON] : [.serviceEnvelope, .meshPacket, .fromRadio]
        for form in forms {
            let event = dissected(bytes, form, opener)
            if event.packet.hasPacket { return .text(event.json.description) }
        }
        return .null
    }

    private func dissected(_ bytes: [UInt8], _ form: CaptureForm, _ opener: PacketOpener) -> DissectedEvent {
        Dissector.dissectEvent(form: form, bytes: bytes.rawSpan, opener: opener)
    }

    /// Without a ledger, or if its keys cannot be read, it still opens what needs no key.
    private func known() -> PacketOpener {
        if let opener { return opener }
        let made = (try? session.ledger(at: nil).opener()) ?? PacketOpener(keyring: Keyring())  // see above
        opener = made
        return made
    }
}

private let callFunction: @convention(c) (OpaquePointer?, CInt, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    guard let context = unsafe context, let data = unsafe sql_user_data(context) else { return }
    let function = unsafe Unmanaged<SQLFunctions.Function>.fromOpaque(data).takeUnretainedValue()
    var arguments: [SQLConstant] = []
    for index in 0..<Int(count) { arguments.append(unsafe SQLConstant(values?[index])) }
    let result = unsafe SQLResult(context: context)
    do {
        switch try function.call(arguments) {
        case .null: result.null()
        case .integer(let number): result.integer(number)
        case .real(let number): result.real(number)
        case .text(let text): result.text(text)
        case .bytes(let bytes): result.bytes(bytes[...])
        }
    } catch {
        result.failure("\(error)")
    }
}
