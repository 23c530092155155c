// Runs a Transformer in the browser without a kernel. browser_model.py stores the model, and a run has the format of
// model_run.py. The layers are pre-norm, `x + sublayer(norm(x))`, with ReLU and sinusoidal positions.

const N_CANDIDATES = 5;
const EPSILON = 1e-5; // epsilon of LayerNorm, as in torch

/** Return a function that runs a stored model on a text. */
export function translatorOf(stored) {
  const parameters = Object.fromEntries(Object.entries(stored.parameters).map(([name, of]) => [name, dequantized(of)]));
  return (text) => new Run(stored, parameters).of(text);
}

/** Run a stored model on a text. */
export function runOf(stored, text) {
  return translatorOf(stored)(text);
}

function decoded(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

function encoded(numbers) {
  return btoa(Array.from(new Uint8Array(numbers.buffer), (byte) => String.fromCharCode(byte)).join(""));
}

/** Return a matrix as an array of rows, from bytes and a scale for each row. */
function dequantized({ width, levels, scales }) {
  const [bytes, sizes] = [decoded(levels, Int8Array), decoded(scales, Float32Array)];
  return Array.from(sizes, (scale, i) => Float64Array.from(bytes.subarray(i * width, (i + 1) * width), (level) => level * scale));
}

const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
const norm = (x) => Math.sqrt(dot(x, x));
const added = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));

/** Return the dot product. Nearly all of the time is spent in this function. */
function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

function softmax(scores) {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

class Run {
  constructor(stored, parameters) {
    Object.assign(this, stored, { parameters, blocks: [] });
    this.width = parameters.embedding[0].length;
    this.names = Object.fromEntries(Object.entries(stored.vocabulary).map(([name, id]) => [id, name]));
  }

  /** Run the model on a text and generate the target greedily, with the most probable token at every step. */
  of(text) {
    const source = [...text].map((letter) => this.vocabulary[letter] ?? this.unknown).concat(this.end);
    const memory = this.encoder(source);
    const target = this.generated(memory);
    const logits = this.decoder(target, memory);
    const sequences = [source, target].map((ids) => ids.map((id) => this.names[id]));
    return { sequences, blocks: this.blocks, next: logits.map((row) => this.candidates(row)) };
  }

  /** Return the generated target, including the start token, without recording blocks. */
  generated(memory) {
    const { blocks } = this;
    let target = [this.begin];
    this.blocks = null;
    while (target.length < this.longest) {
      const logits = this.decoder(target, memory).at(-1);
      const next = logits.indexOf(Math.max(...logits));
      if (next === this.end) break;
      target = [...target, next];
    }
    this.blocks = blocks;
    return target;
  }

  candidates(logits) {
    const likely = softmax(logits).map((p, id) => [this.names[id], Number(p.toFixed(4)), p]);
    return likely.sort((a, b) => b[2] - a[2]).slice(0, N_CANDIDATES).map(([name, p]) => [name, p]);
  }

  encoder(ids) {
    let x = this.embed("encoder", 0, ids);
    for (let i = 0; i < this.layers; i++) {
      const name = `encoder.layers.${i}`;
      const normed = this.layerNorm(`${name}.norm_1`, 0, x);
      x = added(x, this.attention(`${name}.self_attention`, 0, x, normed, normed, 0));
      x = added(x, this.feedForward(`${name}.feed_forward`, 0, x, this.layerNorm(`${name}.norm_2`, 0, x)));
      this.note(name, "PreNormEncoderLayer", 0, x);
    }
    return this.layerNorm("encoder.norm", 0, x);
  }

  decoder(ids, memory) {
    let x = this.embed("decoder", 1, ids);
    for (let i = 0; i < this.layers; i++) {
      const name = `decoder.layers.${i}`;
      const normed = this.layerNorm(`${name}.norm_1`, 1, x);
      x = added(x, this.attention(`${name}.self_attention`, 1, x, normed, normed, 1));
      x = added(x, this.attention(`${name}.cross_attention`, 1, x, this.layerNorm(`${name}.norm_2`, 1, x), memory, 0));
      x = added(x, this.feedForward(`${name}.feed_forward`, 1, x, this.layerNorm(`${name}.norm_3`, 1, x)));
      this.note(name, "PreNormDecoderLayer", 1, x);
    }
    const output = this.layerNorm("decoder.norm", 1, x);
    return output.map((row) => this.parameters.embedding.map((token) => dot(row, token)));
  }

  embed(side, sequence, ids) {
    const found = ids.map((id) => this.parameters.embedding[id]);
    this.note(`${side}.embedding`, "Embedding", sequence, found);
    const angle = (position, j) => position * 10000 ** (-(j - (j % 2)) / this.width);
    const wave = (position, j) => (j % 2 ? Math.cos : Math.sin)(angle(position, j));
    return found.map((row, position) => row.map((x, j) => x * Math.sqrt(this.width) + wave(position, j)));
  }

  linear(name, x) {
    const [weight, [bias]] = [this.parameters[`${name}.weight`], this.parameters[`${name}.bias`]];
    return x.map((row) => Float64Array.from(weight, (of, j) => dot(of, row) + bias[j]));
  }

  layerNorm(name, sequence, x) {
    const [[weight], [bias]] = [this.parameters[`${name}.weight`], this.parameters[`${name}.bias`]];
    const output = x.map((row) => {
      const mean = sum(row) / row.length;
      const deviations = row.map((value) => value - mean);
      const size = Math.sqrt(dot(deviations, deviations) / row.length + EPSILON);
      return deviations.map((deviation, j) => (deviation / size) * weight[j] + bias[j]);
    });
    return this.note(name, "LayerNorm", sequence, output);
  }

  feedForward(name, sequence, stream, x) {
    const hidden = this.linear(`${name}.w_1`, x).map((row) => row.map((value) => Math.max(0, value)));
    return this.note(name, "FeedForward", sequence, this.linear(`${name}.w_2`, hidden), { stream });
  }

  /** Return the result of attention from the sequence `x` to the sequence `other`. */
  attention(name, sequence, stream, x, other, isCausal) {
    const [queries, keys, values] = ["w_q", "w_k", "w_v"].map((part) => this.linear(`${name}.${part}`, part === "w_q" ? x : other));
    const size = this.width / this.heads;
    const isHidden = (i, j) => isCausal && j > i;
    const weights = Array.from({ length: this.heads }, (_, head) => {
      const slice = (row) => row.subarray(head * size, (head + 1) * size);
      return queries.map((query, i) =>
        softmax(keys.map((key, j) => (isHidden(i, j) ? -Infinity : dot(slice(query), slice(key)) / Math.sqrt(size)))),
      );
    });
    const heads = queries.map((_, i) => {
      const mixed = (column) => sum(weights[Math.floor(column / size)][i].map((weight, j) => weight * values[j][column]));
      return Float64Array.from({ length: this.width }, (_, column) => mixed(column));
    });
    return this.note(name, "MultiHeadAttention", sequence, this.linear(`${name}.w_o`, heads), {
      stream,
      heads: this.heads,
      keys: name.includes("cross") ? 0 : sequence,
      weights: this.blocks && encoded(Uint8Array.from(weights.flat(2), (weight) => Math.round(255 * weight))),
    });
  }

  /** Record a block, unless recording is off, and return its output. */
  note(name, kind, sequence, output, { stream, ...more } = {}) {
    if (!this.blocks) return output;
    const numbers = output.flatMap((row) => [...row]);
    const largest = Math.max(...numbers.map(Math.abs));
    const levels = Int8Array.from(numbers, (x) => Math.round((127 * x) / largest));
    const adds = stream && { adds: output.map((row, i) => Number((norm(row) / norm(stream[i])).toFixed(3))) };
    this.blocks.push({ name, class: kind, sequence, width: output[0].length, largest, numbers: encoded(levels), ...adds, ...more });
    return output;
  }
}
