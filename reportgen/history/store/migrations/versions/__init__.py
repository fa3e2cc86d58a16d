"""One file a version, each applied once and never edited afterwards."""
