import Foundation
import MeshIngest

/// The states of sources, encoded for another process.
enum SourceReport {
    static func bytes(_ statuses: [SourceStatus]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try? encoder.encode(statuses)  // fails only for numbers that JSON lacks, which do not occur
        return Array(data ?? Data("[]".utf8))
    }

    /// Nil if the bytes are not a report.
    static func statuses(_ bytes: [UInt8]) -> [SourceStatus]? {
        do {
            return try JSONDecoder().decode([SourceStatus].self, from: Data(bytes))
        } catch {
            return nil
        }
    }
}
