// Tests of MeshIngest.
