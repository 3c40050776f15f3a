# A package, lest that of `spec-kitty-cli`, which a benchmark has beside ours, is found in its place.
