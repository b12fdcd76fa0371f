// Tests of EventLog.
