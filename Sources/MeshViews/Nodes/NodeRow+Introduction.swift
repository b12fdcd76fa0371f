import Meshtastic

extension NodeRow {
    /// A report about a node, from itself or from a radio that knows it.
    /// - Parameter time: when it was heard; 0 if unknown.
    /// - Returns: the reported fields, if the row has all of them now.
    mutating func introduce(_ user: User, heard time: UInt32) -> NodeFields? {
        var learned: NodeFields = []
        var isNewest = takeNames(user.longName, user.shortName, heard: time, &learned)
        isNewest = takeHardware(user.hardwareModel, heard: time, &learned) && isNewest
        // A role of 0 is a role like any other: it counts if a name came with it.
        if !user.longName.isEmpty || !user.shortName.isEmpty {
            learned.insert(.role)
            if time >= times.role {
                (role, isLicensed, times.role) = (user.role, user.isLicensed, time)
            } else {
                isNewest = false
            }
        }
        if let isUnmessagable = user.isUnmessagable {
            learned.insert(.messaging)
            if time >= times.messaging {
                (self.isUnmessagable, times.messaging) = (isUnmessagable, time)
            } else {
                isNewest = false
            }
        }
        takeKey(user.publicKey, heard: time)
        return isNewest ? learned : nil
    }

    mutating func introduce(_ report: MapReport, heard time: UInt32) {
        var learned: NodeFields = []
        _ = takeNames(report.longName, report.shortName, heard: time, &learned)
        _ = takeHardware(report.hardwareModel, heard: time, &learned)
        if !report.firmwareVersion.isEmpty, time >= times.firmware { (firmware, times.firmware) = (report.firmwareVersion, time) }
        if !report.longName.isEmpty, time >= times.role { (role, times.role) = (report.role, time) }
    }

    /// - Returns: whether the row has these names now, if there are any.
    private mutating func takeNames(
        _ long: String, _ short: String, heard time: UInt32, _ learned: inout NodeFields
    ) -> Bool {
        var isNewest = true
        if !long.isEmpty {
            learned.insert(.longName)
            if Self.replaces(longName, times.longName, with: long, time) {
                (longName, times.longName) = (long, time)
            } else {
                isNewest = false
            }
        }
        if !short.isEmpty {
            learned.insert(.shortName)
            if Self.replaces(shortName, times.shortName, with: short, time) {
                (shortName, times.shortName) = (short, time)
            } else {
                isNewest = false
            }
        }
        return isNewest
    }

    private mutating func takeHardware(_ model: UInt32, heard time: UInt32, _ learned: inout NodeFields) -> Bool {
        guard model != 0 else { return true }
        learned.insert(.hardware)
        guard time >= times.hardware else { return false }
        (hardwareModel, times.hardware) = (model, time)
        return true
    }

    /// A missing name never replaces a known one, nor do damaged bytes a clean name.
    private static func replaces(_ known: String, _ knownTime: UInt32, with name: String, _ time: UInt32) -> Bool {
        guard !known.isEmpty, known != name else { return known.isEmpty || time >= knownTime }
        let (wasClean, isClean) = (known.isCleanName, name.isCleanName)
        return wasClean == isClean ? time >= knownTime : isClean
    }

    /// The first announced key stays; a different one is flagged.
    private mutating func takeKey(_ key: [UInt8], heard time: UInt32) {
        guard key.count == 32 else { return }
        let announced = time == 0 ? .max : time
        if publicKey.isEmpty {
            (publicKey, times.key) = (key, announced)
        } else if publicKey == key {
            times.key = min(times.key, announced)
        } else {
            hasKeyConflict = true
            if announced < times.key { (publicKey, times.key) = (key, announced) }
        }
    }
}

extension String {
    /// Whether it contains neither control characters nor the replacement character of broken UTF-8.
    var isCleanName: Bool {
        unicodeScalars.allSatisfy { scalar in
            let value = scalar.value
            return value >= 0x20 && !(0x7f...0x9f).contains(value) && value != 0xfffd
        }
    }
}
