import Meshtastic
import Projections

extension Annotation: CustomStringConvertible {
    /// Its contents, for people to read.
    public var description: String {
        var parts: [String] = []
        if let isFavorite { parts.append(isFavorite ? "favorite" : "no longer favorite") }
        if let isIgnored { parts.append(isIgnored ? "ignored" : "no longer ignored") }
        if let isArchived { parts.append(isArchived ? "archived" : "restored") }
        if let isRead { parts.append(isRead ? "read" : "unread") }
        if let text = note.text { parts.append(text.isEmpty ? "note removed" : "note: \(text)") }
        if let text = alias.text { parts.append(text.isEmpty ? "alias removed" : "alias: \(text)") }
        if let reference {
            let count = reference.targets.count
            let rows = "\(count) \(count == 1 ? "row" : "rows") of \(reference.table)"
            switch reference.kind {
            case .set: parts.append("\(reference.relation) are \(rows)")
            case .append: parts.append("\(reference.relation): \(rows) added")
            case .detach: parts.append("\(reference.relation): \(count == 0 ? "all" : rows) taken away")
            }
        }
        let what: String
        switch subject {
        case .node(let node): what = "node \(NodeID.text(node))"
        case .messages(let keys) where keys.count == 1: what = "message \(keys[0].id) from \(NodeID.text(keys[0].from))"
        case .messages(let keys): what = "\(keys.count) messages"
        case .rows(let rows): what = "\(rows.names.count) \(rows.names.count == 1 ? "row" : "rows") of \(rows.table)"
        }
        let undone = reverts == 0 ? "" : ", which undoes event \(reverts)"
        return "\(what): \(parts.joined(separator: ", "))\(request.isEmpty ? "" : " (\(request))")\(undone)"
    }
}
