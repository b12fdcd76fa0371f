// Tests of Meshtastic.
