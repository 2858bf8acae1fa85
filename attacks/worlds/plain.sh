# A repository in which nothing matters but that Helix works in it.
world() { echo "# Shop" > README.md; }
truth() { false; }
