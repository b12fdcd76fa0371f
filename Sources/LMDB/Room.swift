// The room of LMDB.
