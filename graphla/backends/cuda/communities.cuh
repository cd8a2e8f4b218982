// The work on one vertex in a round of label propagation or of Louvain's method: reading its row,
// choosing its label, and tables that sum the weights of a row by label.
#ifndef GRAPHLA_COMMUNITIES
#define GRAPHLA_COMMUNITIES
#include "collectives.cuh"
#include "hashed_random.cuh"

namespace graphla {

/// POPULAR chooses the label with the largest sum of weights among v's neighbors; a tie goes to the
/// smallest label. GAINING chooses the community c with the largest gain(c), or v's own community
/// if no other community has a larger gain.
enum Rule { POPULAR = 0, GAINING = 1 };

constexpr i32 NOBODY = -1;  // means that there is no label
constexpr int AT_ONCE = 4;  // number of loads in flight per lane while weights are summed by label

/// The inputs of GAINING. gain(c) = w(c) - factor · (out(v)·into(c) + into(v)·out(c)), where w(c)
/// is the sum of the weights in v's row over the neighbors in c. All sums exclude v itself. If the
/// matrix is symmetric, the pointers `into` and `out` are equal, and so are `intos` and `outs`.
struct Gain {
  // `out` and `into`: weights of the edges out of and into each vertex. `outs` and `intos`: the
  // sums of these weights over the vertices of each community.
  const double *out, *into;
  const double *outs, *intos;
  double factor;
  double margin;  // v moves only if its gain increases by more than margin · (out(v) + into(v))
};

/// The parameters that change from round to round.
struct Step {
  // Used only by POPULAR. If all vertices may move in every round, a kernel sets *differs to 1 if a
  // label differs from the label two rounds before. Otherwise it does so if a label changes.
  i64 *differs;
  double *inside;  // for GAINING: sum of the weights that link vertices to their own communities
  u64 stream;      // the hash stream from which each vertex draws its random word in this round
  i64 half;        // which half of the vertices may move: those whose random word has the highest
                   // bit `half`, or all vertices if `half` is -1
};

/// The vertices of a launch, and the data that all of them read.
template <class Offset> struct RowBatch {
  Csr<Offset, double> links;
  const i32 *rows;  // the vertices of the launch
  i64 count;
  const i32 *labels;
  // On entry, this array holds the older labels that `labels` replaced. The kernels overwrite them
  // with the new labels.
  i32 *next;
  Gain gain;
};

/// A label and its score.
template <class Score> struct Choice {
  Score score;
  i32 label;
  DEVICE void meet(Score other, i32 name) {
    if (name == NOBODY) return;
    if (label == NOBODY || other > score || (other == score && name < label)) {
      score = other;
      label = name;
    }
  }
  /// Replaces the choice of each lane with the best choice among all lanes of the warp.
  DEVICE void meet_lanes() {
    for (int apart = WARP / 2; apart; apart /= 2) {
      const Score other = shuffle_xor(score, apart);
      meet(other, shuffle_xor(label, apart));
    }
  }
  /// Replaces the choice of thread 0 with the best choice among all threads of the block. Every
  /// thread must call this. `scores` and `labels` are scratch arrays in shared memory, with one
  /// element per warp. The caller may reuse these arrays as soon as the function returns.
  DEVICE void meet_threads(Score *scores, i32 *labels) {
    meet_lanes();
    if (lane() == 0) scores[warp_in_block()] = score, labels[warp_in_block()] = label;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < int(blockDim.x) / WARP; ++w) meet(scores[w], labels[w]);
    }
    __syncthreads();
  }
};

template <bool COUNTS> struct SumOf {
  typedef double type;
};
template <> struct SumOf<true> {
  typedef u32 type;
};

/// One vertex, its row, and the choice of its label. If all weights are equal (KEPT is ISO), the
/// code counts entries instead of adding weights.
template <class Offset, int KEPT, int RULE> struct Vertex {
  static constexpr bool COUNTS = KEPT == ISO;
  typedef typename SumOf<COUNTS>::type Sum;
  typedef typename SumOf<COUNTS && RULE == POPULAR>::type Score;
  const RowBatch<Offset> &all;
  const Step &step;
  i32 v, own;
  bool may_move;  // whether v may move; if not, only the weight that links v to its own community
                  // is computed, and only for GAINING
  i64 begin, end;
  double out, into;
  // Vertex v moves only to a community whose gain exceeds this threshold. If v may not move, the
  // threshold is 1e300. Otherwise it is -1e300 until `expect` computes the actual threshold.
  double stay;
  Choice<Score> best;

  DEVICE Vertex(const RowBatch<Offset> &batch, const Step &round, i64 k) : all(batch), step(round) {
    v = all.rows[k];
    own = all.labels[v];
    may_move = step.half < 0 || i64(word_of(v, step.stream) >> 63) == step.half;
    begin = all.links.begin(v);
    end = all.links.end(v);
    best.score = Score(0);
    best.label = NOBODY;
    if constexpr (RULE == GAINING) {
      out = all.gain.out[v];
      into = all.gain.into == all.gain.out ? out : all.gain.into[v];
      stay = may_move ? -1e300 : 1e300;
    }
  }
  /// Sets labels[n] to the label of the neighbor in entry first + n * stride. Sets it to NOBODY if
  /// this entry is after the end of the row or, under GAINING, if it is a self-loop. All loads are
  /// in flight at the same time.
  template <int N> DEVICE void load_labels(i64 first, i64 stride, i32 (&labels)[N]) const {
    const i32 *__restrict__ indices = all.links.indices, *__restrict__ label_of = all.labels;
    i32 neighbors[N];
#pragma unroll
    for (int n = 0; n < N; ++n)
      neighbors[n] = first + n * stride < end ? indices[first + n * stride] : NOBODY;
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const i32 j = neighbors[n];
      labels[n] = j == NOBODY || (RULE == GAINING && j == v) ? NOBODY : label_of[j];
    }
  }
  DEVICE Sum weight(i64 p) const {
    if constexpr (COUNTS) return 1;
    else return all.links.values[p];
  }
  /// Converts a sum to a weight. If all weights are equal, the sum is a number of entries.
  DEVICE double weight_of(Sum sum) const {
    if constexpr (COUNTS) return double(sum) * all.links.values[0];
    else return sum;
  }
  /// Returns this lane's part of the weight that links v to its own community: the sum over the
  /// entries first + lane, first + lane + stride, and so on, up to the end of the row. Each lane
  /// issues N loads at a time.
  template <int N> DEVICE Sum own_part(i64 first, i64 stride) const {
    Sum sum = 0;
    if constexpr (RULE == POPULAR) return sum;
    for (i64 base = first + lane(); base < end; base += N * stride) {
      i32 labels[N];
      load_labels(base, stride, labels);
#pragma unroll
      for (int n = 0; n < N; ++n) {
        if (labels[n] == own) sum += weight(base + n * stride);
      }
    }
    return sum;
  }
  DEVICE double gain(i32 c, double linked) const {
    const Gain &state = all.gain;
    const double self = c == own ? 1.0 : 0.0;
    const double outs = state.outs[c] - self * out;
    const double intos = state.intos == state.outs ? outs : state.intos[c] - self * into;
    return linked - state.factor * (out * intos + into * outs);
  }
  /// For GAINING, sets `stay`, the gain that another community must exceed, to the gain of v's own
  /// community plus the margin. `own_sum` is the weight that links v to its own community.
  DEVICE void expect(Sum own_sum) {
    if constexpr (RULE == GAINING) {
      if (may_move) stay = gain(own, weight_of(own_sum)) + all.gain.margin * (out + into);
    }
  }
  /// Considers the label `name`: it becomes the choice of v if it is better than the best label so
  /// far. `sum` is the sum of the weights that link v to vertices with this label. It is an upper
  /// bound on the gain of the community. So if the weight does not exceed `stay`, the function
  /// neither computes the gain nor reads the totals of the community.
  DEVICE void meet(i32 name, Sum sum) {
    if constexpr (RULE == POPULAR) {
      best.meet(sum, name);
    } else if (name != NOBODY && name != own) {
      const double linked = weight_of(sum);
      if (linked > stay) best.meet(gain(name, linked), name);
    }
  }
  /// Writes the new label of v: the best label, or the old label if v does not move. Returns the
  /// weight that links v to its own community if RULE is GAINING, and otherwise 0. Only one thread
  /// calls this for v.
  DEVICE double settle(Sum own_sum) const {
    const double linked = RULE == GAINING ? weight_of(own_sum) : 0;
    i32 chosen = best.label == NOBODY || !may_move ? own : best.label;
    if constexpr (RULE == GAINING) {
      if (!may_move || !(best.score > gain(own, linked) + all.gain.margin * (out + into)))
        chosen = own;
    } else if (chosen != (step.half < 0 ? all.next[v] : own)) {
      store_relaxed(step.differs, i64(1));
    }
    all.next[v] = chosen;
    return linked;
  }
};

/// Adds the sum of `linked` over all lanes to `step.inside`. In each lane, `linked` is the weight
/// that links one or more vertices to their own communities. The whole warp must call this.
template <int RULE> DEVICE void add_inside(const Step &step, double linked) {
  if constexpr (RULE == GAINING) {
    __syncwarp();
    linked = warp_sum(linked);
    if (lane() == 0 && linked != 0) atomicAdd(step.inside, linked);
  }
}

/// A hash table from labels to sums, in shared or device memory. Several threads may use it at the
/// same time. It has at least two slots per entry, so that probe sequences are short and always
/// end.
template <class Sum> struct Table {
  i32 *labels;
  Sum *sums;
  int bits;
  DEVICE void clear(int thread, int threads) {
    for (i64 s = thread; s < i64(1) << bits; s += threads) {
      store_relaxed(&labels[s], NOBODY);
      sums[s] = Sum(0);
    }
  }
  DEVICE void add(i32 label, Sum weight) {
    u32 slot;
    find(label, slot);
    atomicAdd(&sums[slot], weight);
  }
  /// Sets `slot` to the index of the slot that holds `label`. If the table lacks the label, claims
  /// a free slot. Returns true if this call claimed the slot.
  DEVICE bool find(i32 label, u32 &slot) {
    slot = first_slot(label);
    for (;;) {
      i32 there = load_relaxed(&labels[slot]);
      if (there == NOBODY) {
        there = atomicCAS(&labels[slot], NOBODY, label);
        if (there == NOBODY) return true;
      }
      if (there == label) return false;
      slot = (slot + 1) & ((1u << bits) - 1);
    }
  }
  /// Returns the sum of a label, or 0 if the label is not in the table.
  DEVICE Sum sum_of(i32 label) const {
    for (u32 slot = first_slot(label);; slot = (slot + 1) & ((1u << bits) - 1)) {
      const i32 there = load_relaxed(&labels[slot]);
      if (there == label) return load_relaxed(&sums[slot]);
      if (there == NOBODY) return Sum(0);
    }
  }
  DEVICE u32 first_slot(i32 label) const { return u32(label) * 0x9e3779b1u >> (32 - bits); }
};

/// Returns the binary logarithm of the number of slots that a hash table needs for `entries`
/// labels.
DEVICE int bits_for(i64 entries) {
  int bits = 6;
  while (i64(1) << bits < 2 * entries) ++bits;
  return bits;
}

/// Adds the weights of a part of a row to a hash table that is keyed by the labels of the
/// neighbors. Each lane reads the entries `first` + lane, `first` + lane + `step`, and so on. Lanes
/// with the same label first add up their weights, and then update the table once. Whole warps must
/// call this.
template <class Row, class Sum>
DEVICE void tabulate(const Row &row, Table<Sum> &table, i64 first, i64 step) {
  for (i64 base = first; base < row.end; base += AT_ONCE * step) {
    i32 labels[AT_ONCE];
    Sum weights[AT_ONCE];
    row.load_labels(base + lane(), step, labels);
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n) {
      const i64 p = base + n * step + lane();
      weights[n] = p < row.end ? row.weight(p) : Sum(0);
    }
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n) {
      if (base + n * step >= row.end) break;
      const i32 label = labels[n];
      if constexpr (Row::COUNTS) {
        const u32 same = __match_any_sync(ALL_LANES, label);
        if (label != NOBODY && lane() == __ffs(int(same)) - 1) table.add(label, u32(__popc(same)));
      } else {
        Sum weight = weights[n];
        if (__all_sync(ALL_LANES, label == shuffle(label, 0))) {
          weight = warp_sum(weight);
          if (label != NOBODY && lane() == 0) table.add(label, weight);
        } else if (label != NOBODY) {
          table.add(label, weight);
        }
      }
    }
  }
}

}  // namespace graphla
#endif
