// The room of Meshtastic.
