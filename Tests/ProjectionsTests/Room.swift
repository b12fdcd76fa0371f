// Tests of Projections.
