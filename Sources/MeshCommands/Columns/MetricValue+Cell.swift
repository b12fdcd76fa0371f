import Meshtastic

extension MetricValue {
    /// The metric with the precision of the packet.
    var cell: CellValue {
        switch self {
        case .integer(let value): .integer(value)
        case .unsigned(let value): .unsigned(value)
        case .float(let value): .float(value)
        case .text(let text): .text(text)
        case .list(let values): .list(values.map { .float($0) })
        }
    }
}
