import Meshtastic

extension MetricValue {
    /// The metric as exact as the packet has it.
    var cell: CellValue { CellValue.text(text) }
}
