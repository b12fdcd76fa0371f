// The room of MeshCommands.
