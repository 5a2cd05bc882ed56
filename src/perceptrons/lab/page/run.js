// A recorded run: what each update did, and the hypothesis at each position.
//
// Position k is the time from update k until the next one; position 0 is before the first update.

export class Run {
  constructor(facts, arrays, number) {
    Object.assign(this, facts);
    this.number = number;
    const of = (name) => arrays[`${number}.${name}`];
    for (const name of ["update", "seen", "row", "code", "rival", "mistake", "before", "after", "tau", "second"]) {
      this[name] = of(name);
    }
    for (const name of ["variance", "sq_norm", "progress", "path", "readout"]) this[name] = of(name);
    this.flat = of("path.plane") ?? this.path;
    this.flatReadout = of("readout.plane") ?? this.readout ?? this.flat;
    this.length = this.update?.length ?? 0;
  }

  /** The last position. */
  get end() {
    return this.length;
  }

  /** Whether the server must be asked for the scores: of kernels and of votes. */
  get asks() {
    return this.kernel || this.by_vote;
  }

  get vectors() {
    return this.classes.length === 2 ? 1 : this.classes.length;
  }

  /** The lines [a, b, c] of a hypothesis in the plane, whose scores are a·x + b·y + c; one for each weight vector. */
  lines(at, readout = true) {
    const path = readout ? this.flatReadout : this.flat;
    return slices(path, Math.min(at, path.shape[0] - 1));
  }

  /** All weights and the bias at a position, one list for each weight vector; null if there are too many. */
  weights(at, readout = false) {
    const path = (readout && this.readout) || this.path;
    return path ? slices(path, Math.min(at, path.shape[0] - 1)) : null;
  }

  /** The number of examples seen when a position begins. */
  seenAt(at) {
    return at === 0 ? 0 : this.seen[at - 1];
  }

  /** The pass of an update. */
  passOf(k) {
    return Math.floor((this.seen[k - 1] - 1) / this.n_rows) + 1;
  }

  /** The number of updates that were made at a position. */
  madeAt(at) {
    return at === 0 ? 0 : this.update[at - 1];
  }

  /** The position at which this many examples had been seen. */
  positionAt(seen) {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.seen[middle - 1] <= seen) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The position after the next mistake, or the end. */
  nextMistake(at) {
    for (let k = at + 1; k <= this.length; k++) if (this.mistake[k - 1]) return k;
    return this.end;
  }

  /** α of each row at a position: the lengths of its steps, added up. Only for steps along rows. */
  multipliers(at) {
    if (this.kind !== "tau" || !this.tau) return null;
    const sums = new Map();
    for (let k = 0; k < at; k++) {
      if (this.row[k] < 0 || Number.isNaN(this.tau[k])) return null;
      sums.set(this.row[k], (sums.get(this.row[k]) ?? 0) + this.tau[k]);
    }
    return sums;
  }
}

/** The vectors of one position in an array of shape (positions, vectors, numbers). */
function slices(path, at) {
  const [, vectors, size] = path.shape;
  const begin = at * vectors * size;
  return Array.from({ length: vectors }, (_, v) => path.subarray(begin + v * size, begin + (v + 1) * size));
}
