// Carries the precompiled header of the torch side.
