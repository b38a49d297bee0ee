/* Row r of out is row ids[r] of the table; a block for each. */
#include <strobe/cuda.h>

#include "bfloat16.h"

extern "C" __global__ void embedding(const unsigned *ids, const bfloat16 *table, bfloat16 *out,
                                     int rows, int columns) {
    DeviceZoneScopedMainN("EMBEDDING");
    const unsigned id = ids[blockIdx.x];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[(size_t)blockIdx.x * columns + i] =
            id < rows ? table[(size_t)id * columns + i] : (bfloat16)0;
}
