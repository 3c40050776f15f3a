"""The benchmarks of the corpus: what they cost, and none of how good results are."""

COSTS = ("corpus", "corpus_store")
QUALITY = ()
