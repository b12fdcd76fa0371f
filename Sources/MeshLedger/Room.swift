// The room of MeshLedger.
