package import EventLog
import MeshViews

extension PayloadEncoding {
    /// Its name in exports; nil if it has none.
    package var exportName: String? { Self.names.first { $0.encoding == self }?.name }

    package init?(exportName name: String) {
        guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
        self = known.encoding
    }

    package static var exportNames: [String] { names.map(\.name) }

    private static let names: [(encoding: PayloadEncoding, name: String)] = [
        (.gap, "gap"), (.note, "note"), (.erasure, "erasure"), (.retention, "retention"), (.clockJump, "clock jump"),
        (PayloadEncoding(.serviceEnvelope), "ServiceEnvelope"),
        (PayloadEncoding(.meshPacket), "MeshPacket"), (PayloadEncoding(.fromRadio), "FromRadio"),
        (PayloadEncoding(.mqttJSON), "MQTTJSON"), (PayloadEncoding(.unreadable), "unreadable"), (.annotation, "annotation"),
    ]
}
