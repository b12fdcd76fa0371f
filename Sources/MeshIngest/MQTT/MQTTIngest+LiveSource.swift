extension MQTTIngest: LiveSource {
    /// The broker without user and password, and the topics if they are not the usual ones.
    public var name: String { address.text }

    public var status: SourceStatus {
        var status = board.status
        let counts = statistics
        status.storedCount = UInt64(counts.storedCount)
        status.droppedCount = UInt64(counts.oversizedCount)
        status.connectionCount = UInt64(counts.connectionCount)
        return status
    }
}

extension SourceBoard {
    /// What a notice of a broker's connection says of the state.
    func take(_ notice: MQTTNotice) {
        switch notice {
        case .connecting: enter(.connecting, notice.description)
        case .subscribed: enter(.live, notice.description)
        case .lost(let reason, let seconds): fail(reason, retrySeconds: seconds)
        case .disconnected: enter(.stopped, notice.description)
        case .refused, .full, .roomAgain, .viewsNotFlushed: tell(notice.description)
        }
    }
}
