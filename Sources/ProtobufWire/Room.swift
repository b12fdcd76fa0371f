// The room of ProtobufWire.
