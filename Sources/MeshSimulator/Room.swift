// The room of MeshSimulator.
