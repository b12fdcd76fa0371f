// The room of MeshViews.
