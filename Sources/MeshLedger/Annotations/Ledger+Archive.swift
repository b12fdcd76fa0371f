public import EventLog
import Foundation
import MeshViews
public import ViewQuery

/// What to do with a node's messages when the node is archived.
public enum MessagesRule: Sendable, CaseIterable {
    /// They stay, and show only the node's number; they refer to the node again when it is restored.
    case keep
    /// They are archived with it, in the same commit.
    case cascade
    /// The node is not archived as long as it has unread messages.
    case deny
}

extension Ledger.Annotations {
    /// Archives the messages that a query matches now. One event names them, so that a replay hides the same ones, whatever the query would match
    /// then.
    ///
    /// ```swift
    /// let old: UInt32 = 1_790_000_000
    /// let event = try await ledger.annotations.archive(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.time < old }))
    /// ```
    /// Messages without a packet id cannot be named and stay.
    ///
    /// - Parameter request: a description of the request, stored in the log.
    /// - Returns: the event, and how many messages it names; nil if no message matches.
    /// - Throws: `.annotation` if a rule denies it, and what `record` throws.
    @discardableResult
    public func archive(
        _ descriptor: FetchDescriptor<MessageRow>, request: String = ""
    ) async throws(LedgerError) -> (events: ClosedRange<EventSequence>, count: Int)? {
        let keys = try await ledger.fetch(descriptor.whole, .latest).compactMap { MessageKey($0) }
        guard !keys.isEmpty else { return nil }
        return (try await record(.archive(keys, request: request)), keys.count)
    }

    /// Archives a node.
    ///
    /// - Parameter rule: what happens to the messages that it sent.
    /// - Throws: `.annotation` if the rule denies it; nothing is then written.
    @discardableResult
    public func archive(_ node: UInt32, messages rule: MessagesRule) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await ledger.prepare(.latest)
        return try await record(archival(of: node, messages: rule))
    }

    /// The annotations that archive a node and, depending on the rule, the messages that it sent.
    ///
    /// - Throws: `.annotation` if the rule denies it.
    public func archival(of node: UInt32, messages rule: MessagesRule) throws(LedgerError) -> [Annotation] {
        guard rule != .keep else { return [.archive(node)] }
        let sent = try ledger.fetch(FetchDescriptor<MessageRow>(predicate: #Predicate { $0.from == node }))
        let unread = sent.count { !$0.isRead }
        guard rule != .deny || unread == 0 else {
            throw refusal("the node has \(unread) unread \(unread == 1 ? "message" : "messages") and stays; read them first")
        }
        let keys = rule == .cascade ? sent.compactMap { MessageKey($0) } : []
        return [.archive(node)] + (keys.isEmpty ? [] : [.archive(keys)])
    }
}
