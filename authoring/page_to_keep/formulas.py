r"""The formulas of the course, each with the lesson that derives it.

The formulas use the subset of TeX that matplotlib supports. The symbols are: batch size b, sequence length n, d =
``d_model``, h heads of width d_k, vocabulary size V, and x for a row of the residual stream.
"""

from typing import NamedTuple


class Formula(NamedTuple):
    """A formula with its name and the number of its lesson."""

    name: str
    lesson: int
    tex: str


FORMULAS = [
    Formula("softmax", 1, r"$p_i = \exp(s_i)\,/\,\Sigma_j \exp(s_j)$"),
    Formula("scaled dot-product attention", 2, r"$\mathrm{softmax}(Q K^\top / \sqrt{d_k})\, V$"),
    Formula("multi-head attention", 3, r"$[\mathrm{head}_1 \ldots \mathrm{head}_h]\, W_o,\ \ d_k = d / h$"),
    Formula(
        "causal, padding, sliding-window mask",
        4,
        r"$j \leq i;\ \ t_j \neq \mathrm{pad};\ \ i - w < j \leq i$   (else $-\infty$)",
    ),
    Formula("sinusoidal positions", 5, r"$\sin,\ \cos\,(p\,/\,10000^{2i/d})$,  columns $2i,\ 2i+1$"),
    Formula("RoPE", 5, r"turn $q$, $k$ by $p \cdot \mathrm{base}^{-2i/d}$   ($d$: of a head)"),
    Formula("ALiBi", 5, r"score $- \,2^{-8m/h}\,|i - j|$  in head $m = 1 \ldots h$"),
    Formula("LayerNorm", 6, r"$(x - \mu)\,/\,\sqrt{\sigma^2 + \epsilon} \odot w + b$"),
    Formula("RMSNorm", 11, r"$x\,/\,\sqrt{\mathrm{mean}(x^2) + \epsilon} \odot w$"),
    Formula("post-norm; pre-norm", 6, r"$\mathrm{norm}(x + f(x));\ \ x + f(\mathrm{norm}(x))$"),
    Formula("feed-forward network", 6, r"$W_2 \max(0,\ W_1 x + b_1) + b_2$"),
    Formula("SwiGLU", 11, r"$W_{down}\,(\mathrm{SiLU}(W_{gate}\, x) \odot W_{up}\, x)$;  SiLU: $z\,\sigma(z)$"),
    Formula("mixture of experts", 11, r"$\Sigma_{i \in top}\ p_i\, E_i(x),\ \ p = \mathrm{softmax}(s_{top})$"),
    Formula("grouped-query attention", 10, r"head $i$ reads keys, values  $\lfloor i\, h_{kv} / h \rfloor$"),
    Formula("low-rank adaptation", 11, r"$W x + (\alpha / r)\, B A x,\ \ B = 0$ at first"),
    Formula("cross-entropy", 8, r"$L = -\,\mathrm{mean}_t\ \ln p(y_t \mid y_{<t},\ \mathrm{source})$"),
    Formula("label smoothing", 8, r"$-(1 - \epsilon) \ln p_y - (\epsilon / V)\, \Sigma_v \ln p_v$"),
    Formula("Noam rate", 8, r"$d^{-1/2} \min(step^{-1/2},\ step \cdot warmup^{-3/2})$"),
    Formula("AdamW", 8, r"$w \leftarrow w - \eta\,(\hat m / (\sqrt{\hat v} + \epsilon) + \lambda w)$"),
    Formula("perplexity; bits per byte", 9, r"$e^L;\ \ L\, n_{tokens} \,/\, (n_{bytes} \ln 2)$"),
    Formula("sampling", 9, r"$\mathrm{softmax}(s / T)$;  top_k;  fewest: $\Sigma\, p \geq$ top_p"),
    Formula("beam search", 10, r"score $= \ln p(y)\,/\,((5 + |y|)/6)^\alpha$"),
    Formula("KV cache", 10, r"$2\, n_{layers}\, h_{kv}\, d_k \cdot n \cdot b \cdot$ bytes per number"),
    Formula("online softmax", 10, r"$l \leftarrow l\, e^{m - M} + e^{s - M},\ \ M = \max(m, s)$"),
    Formula("speculative decoding", 10, r"keep a draft token with  $\min(1,\ p / p_{draft})$"),
    Formula(
        "accumulation, all-reduce", 13, r"$L = \Sigma$ losses $/\ \Sigma$ tokens;  $\Sigma\, n_w g_w / \Sigma\, n_w$"
    ),
    Formula("operations of training", 13, r"$C \approx 6 N D$;  Chinchilla: $D \approx 20 N$"),
    Formula("scaling law", 13, r"$L = a + b\, N^{-\alpha}$"),
    Formula("DPO", 14, r"$-\ln \sigma(\beta\,[r(y_+) - r(y_-)]),\ \ r = \ln \pi - \ln \pi_{ref}$"),
    Formula("GRPO", 14, r"$A = (r - \bar r)\,/\,\sigma_r;\ \ \min(\rho A,\ \mathrm{clip}(\rho)\, A) - \beta\,$KL"),
]
