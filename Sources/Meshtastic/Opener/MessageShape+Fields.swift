// The figures restate the message definitions of the 2.8 schema: bit n represents field n.

extension MessageShape {
    var fields: Fields {
        switch self {
        case .hardwareMessage: Fields(varints: 0xe, highest: 3)
        case .position: Fields(varints: 0x00ff_ff68, fixed32s: 0x96, highest: 23)
        case .user: Fields(varints: 0x2e0, lengths: 0x11e, highest: 9)
        case .routing: Fields(varints: 0x8, lengths: 0x10, nested: 0x6, highest: 4)
        case .routeDiscovery: Fields(varints: 0x14, fixed32s: 0xa, nested: 0x1e, highest: 4)
        case .waypoint: Fields(varints: 0x3a32, fixed32s: 0x10c, lengths: 0xc0, nested: 0x400, highest: 13)
        case .boundingBox: Fields(fixed32s: 0x1e, highest: 4)
        case .keyVerification: Fields(varints: 0x2, lengths: 0xc, highest: 3)
        case .remoteShell: Fields(varints: 0x7de, lengths: 0x20, highest: 10)
        case .paxcount: Fields(varints: 0xe, highest: 3)
        case .storeForwardPlusPlus: Fields(varints: 0x7c2, lengths: 0x3c, highest: 10)
        case .statusMessage: Fields(lengths: 0x2, highest: 1)
        case .meshBeacon: Fields(varints: 0x38, lengths: 0x2, nested: 0x4, highest: 5)
        case .storeAndForward: Fields(varints: 0x42, lengths: 0x20, nested: 0x1c, highest: 6)
        case .statistics: Fields(varints: 0x3fe, highest: 9)
        case .history: Fields(varints: 0xe, highest: 3)
        case .heartbeat: Fields(varints: 0x6, highest: 2)
        // No kind has the number 10 yet; in later firmware it would be metrics, too.
        case .telemetry: Fields(fixed32s: 0x2, lengths: 0x400, nested: 0xbfc, highest: 11)
        case .deviceMetrics: Fields(varints: 0x22, fixed32s: 0x1c, highest: 5)
        case .environmentMetrics: Fields(varints: 0x0100_0020_2080, fixed32s: 0x02ff_ffdf_df7e, nested: 0x0080_0000, highest: 41)
        case .airQualityMetrics: Fields(varints: 0x0418_3ffe, fixed32s: 0x03e7_c000, highest: 26)
        case .powerMetrics: Fields(fixed32s: 0x0001_fffe, highest: 16)
        case .localStats: Fields(varints: 0xfff2, fixed32s: 0xc, highest: 15)
        case .healthMetrics: Fields(varints: 0x6, fixed32s: 0x8, highest: 3)
        case .hostMetrics: Fields(varints: 0x1fe, lengths: 0x200, highest: 9)
        case .trafficStats: Fields(varints: 0xfe, highest: 7)
        case .soilWaterMetrics: Fields(fixed32s: 0xfffe, highest: 15)
        case .compressed: Fields(varints: 0x2, lengths: 0x4, highest: 2)
        case .neighborInfo: Fields(varints: 0xe, nested: 0x10, highest: 4)
        case .neighbor: Fields(varints: 0x12, fixed32s: 0xc, highest: 4)
        case .mapReport: Fields(varints: 0x79d8, fixed32s: 0x600, lengths: 0x26, highest: 14)
        case .admin: Fields(varints: .max, fixed32s: .max, lengths: .max, highest: 119)
        case .anyMessage: Fields(varints: .max, fixed32s: .max, lengths: .max, highest: 511)
        }
    }

    /// The content of a length-delimited field that has its bit in `nested`.
    func inside(_ number: UInt32) -> Inside {
        switch (self, number) {
        case (.routing, 1), (.routing, 2): .message(.routeDiscovery)
        case (.routeDiscovery, 1), (.routeDiscovery, 3), (.environmentMetrics, 23): .packedFixed32
        case (.routeDiscovery, 2), (.routeDiscovery, 4): .packedVarints
        case (.waypoint, 10): .message(.boundingBox)
        case (.meshBeacon, 2): .message(.anyMessage)
        case (.storeAndForward, 2): .message(.statistics)
        case (.storeAndForward, 3): .message(.history)
        case (.storeAndForward, 4): .message(.heartbeat)
        case (.telemetry, 2): .message(.deviceMetrics)
        case (.telemetry, 3): .message(.environmentMetrics)
        case (.telemetry, 4): .message(.airQualityMetrics)
        case (.telemetry, 5): .message(.powerMetrics)
        case (.telemetry, 6): .message(.localStats)
        case (.telemetry, 7): .message(.healthMetrics)
        case (.telemetry, 8): .message(.hostMetrics)
        case (.telemetry, 9): .message(.trafficStats)
        case (.telemetry, 11): .message(.soilWaterMetrics)
        case (.neighborInfo, 4): .message(.neighbor)
        default: .bytes
        }
    }
}
