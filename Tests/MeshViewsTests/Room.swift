// Tests of MeshViews.
