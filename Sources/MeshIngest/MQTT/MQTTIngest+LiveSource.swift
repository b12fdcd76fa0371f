extension MQTTIngest: LiveSource {
    /// The broker without user and password.
    public var name: String { address.text }

    public var status: SourceStatus {
        var status = board.status
        let counts = statistics
        status.storedCount = UInt64(counts.storedCount)
        status.droppedCount = UInt64(counts.oversizedCount)
        status.lagSeconds = lagSeconds
        status.connectionCount = UInt64(counts.connectionCount)
        return status
    }
}

extension SourceBoard {
    /// The state that a notice of a broker's connection implies.
    func take(_ notice: MQTTNotice) {
        switch notice {
        case .connecting: enter(.connecting, notice.description)
        case .subscribed: enter(.live, notice.description)
        case .lost(let reason, let seconds): fail(reason, retrySeconds: seconds)
        case .disconnected: enter(.stopped, notice.description)
        case .full(let reason): report(.full(reason: reason))
        case .roomAgain: report(.roomAgain)
        case .oversized: report(notice.description, isTrouble: true)
        case .refused, .writerGone, .viewsNotFlushed: report(notice.description)
        }
    }
}
