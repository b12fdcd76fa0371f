import Projections
import Testing

@testable import MeshViews

/// A view with another version is rebuilt, and rows of dropped events that its code can no longer read are lost.
struct VersionsOfViews {
    @Test func `views are of the versions that ledgers have, and read the earlier ones`() {
        let versions = ViewRegistry.projections(ViewCaps()).map { ($0.name, $0.oldestReadableVersion...$0.version) }
        let expected: [String: ClosedRange<UInt32>] = [
            "nodes": 2...7, "positions": 3...3, "telemetry": 2...4, "messages": 2...7, "waypoints": 2...3, "traceroutes": 1...5,
            "links": 3...5, "gateways": 2...4, "mapreports": 2...3, "sensors": 2...2, "nodehistory": 2...4, "radios": 1...1,
            "archived": 1...2, "packets": 1...5,
        ]
        #expect(Dictionary(uniqueKeysWithValues: versions) == expected)
    }
}
