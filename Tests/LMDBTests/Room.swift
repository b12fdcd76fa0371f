// Tests of LMDB.
