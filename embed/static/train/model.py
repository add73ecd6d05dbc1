"""What the steps share: tokens, the teacher, and texts as bags of table rows."""

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

TOKENS = 30522  # of the BERT uncased vocabulary


def tokenizer(model):
    t = Tokenizer.from_file(model + "/tokenizer.json")
    t.no_truncation()
    t.no_padding()
    return t


def tokenize(tok, texts, limit):
    """Returns all ids in one array, and where each text begins, and the last ends."""
    flat, offsets = [], [0]
    for i in range(0, len(texts), 20_000):
        for e in tok.encode_batch_fast(texts[i : i + 20_000], add_special_tokens=False):
            ids = e.ids[:limit]
            flat.append(np.asarray(ids, dtype=np.int32))
            offsets.append(offsets[-1] + len(ids))
    return np.concatenate(flat), np.asarray(offsets, dtype=np.int64)


class Teacher:
    """all-MiniLM-L6-v2: mean of the last layer, normalised. bfloat16, on a CPU."""

    def __init__(self, model):
        from transformers import AutoModel

        self.model = AutoModel.from_pretrained(model, attn_implementation="sdpa").to(torch.bfloat16).eval()

    @torch.inference_mode()
    def embed(self, flat, offsets, limit=256):
        """Embeds texts of tokens, cut to limit with [CLS] and [SEP]."""
        n = len(offsets) - 1
        lengths = np.minimum(np.diff(offsets), limit - 2)
        order = np.argsort(-lengths, kind="stable")  # like lengths together
        out = np.zeros((n, 384), dtype=np.float16)
        done = 0
        while done < n:
            longest = int(lengths[order[done]]) + 2
            rows = order[done : done + max(1, min(32_768 // longest, 1024))]
            ids, mask = np.zeros((2, len(rows), longest), dtype=np.int64)
            for r, k in enumerate(rows):
                m = lengths[k]
                ids[r, 0], ids[r, 1 + m] = 101, 102
                ids[r, 1 : 1 + m] = flat[offsets[k] : offsets[k] + m]
                mask[r, : m + 2] = 1
            ids, mask = torch.from_numpy(ids), torch.from_numpy(mask)
            hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            mask = mask[:, :, None].float()
            out[rows] = F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1).half().numpy()
            done += len(rows)
        return out


class Bags:
    """Texts as their distinct tokens and how often each occurs."""

    def __init__(self, flat, offsets):
        rows, counts, ends = [], [], [torch.zeros(1, dtype=torch.int64)]
        for i in range(0, len(offsets) - 1, 100_000):  # sorting everything at once takes too much memory
            o = torch.from_numpy(offsets[i : i + 100_001])
            text = torch.repeat_interleave(torch.arange(len(o) - 1), o.diff())
            key, count = torch.unique(text * TOKENS + torch.from_numpy(flat[o[0] : o[-1]]).long(), return_counts=True)
            rows.append((key % TOKENS).int())
            counts.append(count.float())
            ends.append(torch.searchsorted(key // TOKENS, torch.arange(1, len(o))) + ends[-1][-1])
        self.rows, self.counts, self.offsets = torch.cat(rows), torch.cat(counts), torch.cat(ends)

    def take(self, texts):
        """Returns rows, counts and offsets of some texts, as embedding_bag wants them."""
        start = self.offsets[texts]
        lengths = self.offsets[texts + 1] - start
        offsets = lengths.cumsum(0) - lengths
        at = torch.arange(int(lengths.sum())) + torch.repeat_interleave(start - offsets, lengths)
        return self.rows[at].long(), self.counts[at], offsets


def embed(table, bags, texts, exponent, drop=0.0):
    rows, counts, offsets = bags.take(texts)
    weights = counts**exponent
    if drop:
        weights = weights * (torch.rand_like(weights) > drop)
    return F.normalize(F.embedding_bag(rows, table, offsets, mode="sum", per_sample_weights=weights), dim=1, eps=1e-6)
