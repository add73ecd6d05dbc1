"""Reranking with Cohere's clients: cohere_client.py URL."""

import sys
from importlib.metadata import version

import cohere

documents = ["Bread is baked.", "Paris is the capital of France.", "The games were in Paris."]
for client in cohere.Client(api_key="any", base_url=sys.argv[1]), cohere.ClientV2(api_key="any", base_url=sys.argv[1]):
    results = client.rerank(model="ragctx", query="What is the capital of France?", documents=documents, top_n=2).results
    if [r.index for r in results][0] != 1 or len(results) != 2 or not 0.3 < results[0].relevance_score <= 1:
        raise SystemExit(f"cohere: {results}")
print(f"cohere {version('cohere')} (PyPI): ok")
