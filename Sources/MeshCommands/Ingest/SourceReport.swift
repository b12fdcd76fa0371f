import Foundation
import MeshIngest

/// The states of sources as they go from process to process.
enum SourceReport {
    static func bytes(_ statuses: [SourceStatus]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try? encoder.encode(statuses)  // a number that JSON does not have, which none is
        return Array(data ?? Data("[]".utf8))
    }

    /// Nil for what is no report.
    static func statuses(_ bytes: [UInt8]) -> [SourceStatus]? {
        do {
            return try JSONDecoder().decode([SourceStatus].self, from: Data(bytes))
        } catch {
            return nil
        }
    }
}
