// Reranking with Cohere's client: cohere_client.mjs URL.
import assert from "node:assert/strict";
import * as cohere from "cohere-ai";

const { CohereClient, CohereClientV2 } = cohere.default ?? cohere;
for (const Client of [CohereClient, CohereClientV2]) {
  const client = new Client({ token: "any", environment: process.argv[2], baseUrl: process.argv[2] });
  const { results } = await client.rerank({
    model: "ragctx", query: "What is the capital of France?", documents: ["Bread is baked.", "Paris is the capital of France."], topN: 1,
  });
  assert.equal(results[0].index, 1);
  assert(results[0].relevanceScore > 0.3);
}
console.log("cohere-ai (npm): ok");
