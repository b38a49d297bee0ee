/*
 * out = a b, with the tensor cores (sm_80 and newer). A block of four warps makes a tile of 64 x 64
 * of the result, each warp a quarter of it; the inner side is walked in steps of 32.
 */
#include <strobe/cuda.h>

#include "bfloat16.h"

#if __CUDA_ARCH__ < 800
#error "the tensor cores multiply bfloat16 from sm_80 on"
#endif

#define SIDE 64
#define STEP 32
#define LINE (STEP + 8) /* apart in shared memory, so that rows lie in different banks */

/* Eight numbers of a row from a column on; beyond its end there are zeros. */
static __device__ void fetch(const bfloat16 *row, bool is_there, int column, int columns,
                             bfloat16 *to) {
    if (is_there && column + 8 <= columns && columns % 8 == 0) {
        *(uint4 *)to = *(const uint4 *)(row + column);
        return;
    }
    for (int i = 0; i < 8; i++)
        to[i] = is_there && column + i < columns ? row[column + i] : (bfloat16)0;
}

static __device__ void load_a(const bfloat16 *a, int first_row, int first, int rows, int inner,
                              bfloat16 (*tile)[LINE]) {
    for (int i = threadIdx.x; i < SIDE * STEP / 8; i += blockDim.x) {
        const int row = i / (STEP / 8);
        const int column = i % (STEP / 8) * 8;
        fetch(a + (size_t)(first_row + row) * inner, first_row + row < rows, first + column, inner,
              &tile[row][column]);
    }
}

/* Turned, since the tensor cores want pairs along the inner side. */
static __device__ void load_b(const bfloat16 *b, int first_column, int first, int columns,
                              int inner, bfloat16 (*tile)[LINE]) {
    for (int i = threadIdx.x; i < SIDE * STEP / 8; i += blockDim.x) {
        const int row = i / (SIDE / 8);
        const int column = i % (SIDE / 8) * 8;
        __align__(16) bfloat16 numbers[8];
        fetch(b + (size_t)(first + row) * columns, first + row < inner, first_column + column,
              columns, numbers);
        for (int k = 0; k < 8; k++)
            tile[column + k][row] = numbers[k];
    }
}

static __device__ unsigned pair(const bfloat16 *at) {
    return *(const unsigned *)at;
}

/* 16 x 8 += 16 x 16 times 16 x 8. */
static __device__ void multiply(float *sums, const unsigned *a, const unsigned *b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* A warp's quarter: two times four of the tensor cores' tiles. */
static __device__ void add_product(const bfloat16 (*a)[LINE], const bfloat16 (*b)[LINE], int row,
                                   int column, float (*sums)[4][4]) {
    const int group = threadIdx.x % 32 / 4;
    const int lane = threadIdx.x % 4 * 2;
    for (int k = 0; k < STEP; k += 16) {
        unsigned left[2][4];
        for (int i = 0; i < 2; i++)
            for (int part = 0; part < 4; part++)
                left[i][part] =
                    pair(&a[row + 16 * i + group + part % 2 * 8][k + lane + part / 2 * 8]);
        for (int i = 0; i < 4; i++) {
            const bfloat16 *line = b[column + 8 * i + group];
            const unsigned right[2] = {pair(line + k + lane), pair(line + k + lane + 8)};
            multiply(sums[0][i], left[0], right);
            multiply(sums[1][i], left[1], right);
        }
    }
}

static __device__ void write(const float (*sums)[4][4], int row, int column, int rows, int columns,
                             RESULT *out) {
    const int group = threadIdx.x % 32 / 4;
    const int lane = threadIdx.x % 4 * 2;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++)
            for (int part = 0; part < 4; part++) {
                const int y = row + 16 * i + group + part / 2 * 8;
                const int x = column + 8 * k + lane + part % 2;
                if (y < rows && x < columns)
                    store(out + (size_t)y * columns + x, sums[i][k][part]);
            }
}

extern "C" __global__ void matmul(const bfloat16 *a, const bfloat16 *b, RESULT *out, int rows,
                                  int inner, int columns) {
    DeviceZoneScopedMainN("MATMUL");
    __shared__ __align__(16) bfloat16 a_tile[SIDE][LINE];
    __shared__ __align__(16) bfloat16 b_tile[SIDE][LINE];
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 * 32;
    const int column = warp % 2 * 32;
    float sums[2][4][4] = {};
    for (int first = 0; first < inner; first += STEP) {
        {
            DeviceZoneScopedN("LOAD");
            load_a(a, blockIdx.y * SIDE, first, rows, inner, a_tile);
            load_b(b, blockIdx.x * SIDE, first, columns, inner, b_tile);
            __syncthreads();
        }
        DeviceZoneScopedN("MULTIPLY");
        add_product(a_tile, b_tile, row, column, sums);
        __syncthreads();
    }
    DeviceZoneScopedN("WRITE");
    write(sums, blockIdx.y * SIDE + row, blockIdx.x * SIDE + column, rows, columns, out);
}
