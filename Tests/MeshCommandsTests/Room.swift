// Tests of MeshCommands.
