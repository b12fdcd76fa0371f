// Tests of MeshCrypto.
