// The room of MeshIngest.
