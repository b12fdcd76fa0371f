import Meshtastic
import ProtobufWire

/// What one event reports about a node. Empty texts, the model 0 and a nil role count as missing.
struct NodeIntroduction {
    var node: UInt32
    var kind: IntroductionKind
    var longName = ""
    var shortName = ""
    var hardwareModel: UInt32 = 0
    var role: UInt32?
    var firmware = ""
    /// 32 bytes, or empty.
    var publicKey: [UInt8] = []
    var target = ""
    var asSaid = LastIntroduction()

    init(_ user: User, of node: UInt32, _ kind: IntroductionKind) {
        self.node = node
        self.kind = kind
        longName = user.longName
        shortName = user.shortName
        hardwareModel = user.hardwareModel
        role = user.longName.isEmpty && user.shortName.isEmpty ? nil : user.role
        if user.publicKey.count == 32 { publicKey = user.publicKey }
    }

    /// A node's announcement about itself.
    init(decoding payload: RawSpan, of node: UInt32) throws(WireError) {
        self.init(try User(decoding: payload), of: node, .nodeInfo)
        asSaid = LastIntroduction(payload)
    }

    init(_ report: MapReport, of node: UInt32) {
        self.node = node
        kind = .mapReport
        longName = report.longName
        shortName = report.shortName
        hardwareModel = report.hardwareModel
        role = report.longName.isEmpty ? nil : report.role
        firmware = report.firmwareVersion
    }

    init(_ metadata: DeviceMetadata, of radio: RadioNode) {
        node = radio.node
        kind = .metadata
        hardwareModel = metadata.hardwareModel
        role = metadata.role
        firmware = metadata.firmwareVersion
        target = radio.target
    }
}

extension NodeIdentity {
    /// Applies a report, and returns what is new. A missing value never replaces a known one, and the first key stays.
    mutating func learn(_ introduction: NodeIntroduction, sequence: UInt64) -> NodeChanges {
        var changes: NodeChanges = []
        (lastIntroduction, lastModel) = (introduction.asSaid, introduction.hardwareModel)
        if !introduction.longName.isEmpty, introduction.longName != longName {
            longName = introduction.longName
            changes.insert(.longName)
        }
        if !introduction.shortName.isEmpty, introduction.shortName != shortName {
            shortName = introduction.shortName
            changes.insert(.shortName)
        }
        if introduction.hardwareModel != 0, introduction.hardwareModel != hardwareModel {
            hardwareModel = introduction.hardwareModel
            changes.insert(.hardware)
        }
        if let new = introduction.role, new != role {
            role = new
            changes.insert(.role)
        }
        if !introduction.firmware.isEmpty, introduction.firmware != firmware {
            firmware = introduction.firmware
            changes.insert(.firmware)
        }
        guard !introduction.publicKey.isEmpty, introduction.publicKey != lastKey else { return changes }
        lastKey = introduction.publicKey
        if firstKey.isEmpty {
            firstKey = introduction.publicKey
            keySequence = sequence
            changes.insert(.firstKey)
        } else {
            changes.insert(introduction.publicKey == firstKey ? .firstKeyAgain : .otherKey)
        }
        return changes
    }
}
