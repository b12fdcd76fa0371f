// Tests of ProtobufWire.
