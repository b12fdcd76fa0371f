// The room of Projections.
