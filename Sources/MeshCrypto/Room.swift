// The room of MeshCrypto.
