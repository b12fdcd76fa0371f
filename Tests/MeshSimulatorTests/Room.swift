// Tests of MeshSimulator.
