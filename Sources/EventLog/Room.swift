// The room of EventLog.
