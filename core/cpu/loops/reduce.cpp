// Sum, maximum and minimum of up to reduction_chunk elements. The order does not depend on the
// layout, on the instruction set or on threads: element i belongs to lane i mod 16; each block of
// 256 elements is summed lane by lane from its start; the blocks' lanes are added pairwise (a
// balanced tree, error O(log n)), and at the end the upper half of the lanes to the lower half
// until one is left.
#include <limits>

#include "core/cpu/loops/pack.h"
#include "core/cpu/loops/parts.h"

namespace ralimp::cpu::SIMD_LEVEL {
namespace {

constexpr int64_t block_size = 256;
constexpr int tree_levels = 5;
static_assert(block_size << (tree_levels - 1) >= reduction_chunk);

template <class T>
constexpr T identity(scalar::Add) {
    return 0;
}
template <class T>
constexpr T identity(scalar::Maximum) {
    using Limits = std::numeric_limits<T>;
    constexpr T value = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return value;
}
template <class T>
constexpr T identity(scalar::Minimum) {
    using Limits = std::numeric_limits<T>;
    constexpr T value = Limits::has_infinity ? Limits::infinity() : Limits::max();
    return value;
}

// `size` packs, combined one by one.
template <class Op, class T, int size>
struct Lanes {
    Pack<T> packs[size];

    static Lanes start() {
        Lanes lanes;
        for (Pack<T>& pack : lanes.packs) pack = Pack<T>(identity<T>(Op{}));
        return lanes;
    }
    void combine(const Lanes& later) {
        for (int i = 0; i < size; ++i) packs[i] = Op::value(packs[i], later.packs[i]);
    }
};

// The pairwise tree: add() takes the partial results in order; as in a binary counter, two results
// of equally many blocks become one.
template <class Partial>
struct Tree {
    Partial partials[tree_levels];
    int size = 0;

    // `index`: how many results of this size came before.
    void add(Partial partial, int64_t index) {
        for (; index & 1; index >>= 1) {
            partials[--size].combine(partial);
            partial = partials[size];
        }
        partials[size++] = partial;
    }
    Partial total() {
        while (size > 1) {
            --size;
            partials[size - 1].combine(partials[size]);
        }
        return partials[0];
    }
};

// Along a row: the lanes stand side by side in the packs. Whole numbers add up the same in any
// order, so that a pack of more than 16 bytes is used whole.
template <class T>
constexpr int packs_per_group = Pack<T>::width >= 16 ? 1 : 16 / Pack<T>::width;

template <class Op, class T>
using RowLanes = Lanes<Op, T, packs_per_group<T>>;

// Halves until one lane is left: the upper half of the lanes is added to the lower one.
template <class Op, int lanes, class T>
T folded(Pack<T> pack) {
    if constexpr (lanes == 1)
        return first(pack);
    else
        return folded<Op, lanes / 2>(Op::value(pack, moved_down<lanes / 2>(pack)));
}
template <class Op, class T>
T across(RowLanes<Op, T> lanes) {
    for (int half = packs_per_group<T> / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
            lanes.packs[i] = Op::value(lanes.packs[i], lanes.packs[i + half]);
    return folded<Op, Pack<T>::width>(lanes.packs[0]);
}

// Adds `count` <= block_size elements to fresh lanes.
template <class Op, class T>
RowLanes<Op, T> row_block(const T* in, int64_t stride, int64_t count) {
    constexpr int width = Pack<T>::width, packs = packs_per_group<T>, group = packs * width;
    const Pack<T> nothing(identity<T>(Op{}));
    auto lanes = RowLanes<Op, T>::start();
    int64_t i = 0;
    if (stride == 1) {
        for (; i + group <= count; i += group)
            for (int p = 0; p < packs; ++p)
                lanes.packs[p] = Op::value(lanes.packs[p], Pack<T>::load(in + i + p * width));
        for (int p = 0; p < packs && i < count; ++p, i += width) {
            const Pack<T> last = count - i < width ? Pack<T>::load(in + i, count - i, nothing)
                                                   : Pack<T>::load(in + i);
            lanes.packs[p] = Op::value(lanes.packs[p], last);
        }
        return lanes;
    }
    for (int p = 0; i < count; i += width, p = (p + 1) % packs) {
        T values[width];
        nothing.store(values);
        for (int64_t j = 0; j < width && i + j < count; ++j) values[j] = in[(i + j) * stride];
        lanes.packs[p] = Op::value(lanes.packs[p], Pack<T>::load(values));
    }
    return lanes;
}

// Whole blocks one after the other; the processor overlaps their additions by itself.
template <int blocks, class Op, class T>
void whole_row_blocks(const T* in, RowLanes<Op, T>* lanes) {
    constexpr int width = Pack<T>::width, packs = packs_per_group<T>, group = packs * width;
    for (int b = 0; b < blocks; ++b) {
        lanes[b] = RowLanes<Op, T>::start();
        for (int64_t i = 0; i < block_size; i += group)
            for (int p = 0; p < packs; ++p)
                lanes[b].packs[p] = Op::value(lanes[b].packs[p],
                                              Pack<T>::load(in + b * block_size + i + p * width));
    }
}

// The tree of two to four blocks, the last of them perhaps not whole.
template <class Op, class T>
RowLanes<Op, T> four_row_blocks(const T* in, int64_t count) {
    RowLanes<Op, T> lanes[4];
    const int64_t whole = count / block_size, rest = count % block_size;
    if (whole == 4)
        whole_row_blocks<4, Op>(in, lanes);
    else if (whole == 3)
        whole_row_blocks<3, Op>(in, lanes);
    else if (whole == 2)
        whole_row_blocks<2, Op>(in, lanes);
    else
        whole_row_blocks<1, Op>(in, lanes);
    if (rest > 0) lanes[whole] = row_block<Op, T>(in + whole * block_size, 1, rest);
    const int64_t blocks = whole + (rest > 0);
    lanes[0].combine(lanes[1]);
    if (blocks == 4) lanes[2].combine(lanes[3]);
    if (blocks >= 3) lanes[0].combine(lanes[2]);
    return lanes[0];
}

template <class Op, class T>
T reduce_row(const T* in, int64_t stride, int64_t count) {
    if (count <= block_size) return across<Op, T>(row_block<Op, T>(in, stride, count));
    constexpr int64_t four_blocks = 4 * block_size;
    if (stride == 1 && count <= four_blocks)
        return across<Op, T>(four_row_blocks<Op, T>(in, count));
    const int64_t step = stride == 1 ? four_blocks : block_size;
    Tree<RowLanes<Op, T>> tree;
    for (int64_t i = 0; i < count; i += step) {
        const int64_t size = count - i < step ? count - i : step;
        tree.add(size <= block_size ? row_block<Op, T>(in + i * stride, stride, size)
                                    : four_row_blocks<Op, T>(in + i, size),
                 i / step);
    }
    return across<Op, T>(tree.total());
}

template <class Op, class T>
void reduce_columns(Extent extent, T* out, int64_t out_stride, const T* in, Stride stride) {
    for (int64_t row = 0; row < extent.rows; ++row)
        out[row * out_stride] =
            reduce_row<Op, T>(in + row * stride.row, stride.column, extent.columns);
}

// Down the rows: a pack holds neighbouring columns and each lane is a pack of its own. `load` reads
// the pack of a row.
template <class Op, class T, class Load>
Pack<T> reduce_down(int64_t rows, Load load) {
    using ColumnLanes = Lanes<Op, T, 16>;
    const auto block = [&](int64_t row, int64_t end) {
        auto lanes = ColumnLanes::start();
        for (; row + 16 <= end; row += 16)
            for (int lane = 0; lane < 16; ++lane)
                lanes.packs[lane] = Op::value(lanes.packs[lane], load(row + lane));
        for (int lane = 0; row + lane < end; ++lane)
            lanes.packs[lane] = Op::value(lanes.packs[lane], load(row + lane));
        return lanes;
    };
    ColumnLanes total;
    if (rows <= block_size) {
        total = block(0, rows);
    } else {
        Tree<ColumnLanes> tree;
        for (int64_t row = 0; row < rows; row += block_size)
            tree.add(block(row, row + block_size < rows ? row + block_size : rows),
                     row / block_size);
        total = tree.total();
    }
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
            total.packs[i] = Op::value(total.packs[i], total.packs[i + half]);
    return total.packs[0];
}

template <class Op, class T>
void reduce_rows(Extent extent, T* out, int64_t out_stride, const T* in, Stride stride) {
    constexpr int width = Pack<T>::width;
    for (int64_t column = 0; column < extent.columns; column += width) {
        const int64_t part = extent.columns - column < width ? extent.columns - column : width;
        const T* start = in + column * stride.column;
        Pack<T> result;
        if (stride.column != 1)
            result = reduce_down<Op, T>(extent.rows, [=](int64_t row) {
                return Pack<T>::gather(start + row * stride.row, stride.column, part);
            });
        else if (part < width)
            result = reduce_down<Op, T>(extent.rows, [=](int64_t row) {
                return Pack<T>::load(start + row * stride.row, part);
            });
        else
            result = reduce_down<Op, T>(
                extent.rows, [=](int64_t row) { return Pack<T>::load(start + row * stride.row); });
        result.scatter(out + column * out_stride, out_stride, part);
    }
}

template <class T>
void add(TypedLoops<T>& loops) {
    loops.reduce_columns[0] = reduce_columns<scalar::Add, T>;
    loops.reduce_columns[1] = reduce_columns<scalar::Maximum, T>;
    loops.reduce_columns[2] = reduce_columns<scalar::Minimum, T>;
    loops.reduce_rows[0] = reduce_rows<scalar::Add, T>;
    loops.reduce_rows[1] = reduce_rows<scalar::Maximum, T>;
    loops.reduce_rows[2] = reduce_rows<scalar::Minimum, T>;
}

}  // namespace

void add_reduce(Loops& loops) noexcept {
    add(loops.float32);
    add(loops.float64);
    add(loops.int64);
    add(loops.int32);
    add(loops.uint8);
}

}  // namespace ralimp::cpu::SIMD_LEVEL
