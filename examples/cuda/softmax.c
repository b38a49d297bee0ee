/*
 * Zones inside a CUDA kernel that is built from source at run time.
 *
 *     STROBE_OUT=run.rec softmax && strobe view run.rec --open
 *
 * Needs no CUDA to be compiled; says so in one sentence where there is none to run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <strobe/cuda_host.h>
#include <strobe/strobe.h>

enum { ROWS = 2048, COLUMNS = 1024, THREADS = 256, LAUNCHES = 20 };

static const char source[] =
    "#include <strobe/cuda.h>\n"
    "\n"
    "__device__ float over_block(float value, bool largest) {\n"
    "    __shared__ float parts[32];\n"
    "    DeviceZoneScopedN(\"over block\");\n"
    "    for (int step = 16; step > 0; step /= 2) {\n"
    "        const float other = __shfl_xor_sync(0xFFFFFFFFu, value, step);\n"
    "        value = largest ? fmaxf(value, other) : value + other;\n"
    "    }\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x % 32 == 0)\n"
    "        parts[threadIdx.x / 32] = value;\n"
    "    __syncthreads();\n"
    "    float all = parts[0];\n"
    "    for (int i = 1; i < blockDim.x / 32; i++)\n"
    "        all = largest ? fmaxf(all, parts[i]) : all + parts[i];\n"
    "    return all;\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void softmax(const float *in, float *out, int columns) {\n"
    "    DeviceZoneScopedMainN(\"softmax\");\n"
    "    const float *from = in + (size_t)blockIdx.x * columns;\n"
    "    float *to = out + (size_t)blockIdx.x * columns;\n"
    "    float most = -1e30f, sum = 0;\n"
    "    {\n"
    "        DeviceZoneScopedN(\"largest\");\n"
    "        for (int i = threadIdx.x; i < columns; i += blockDim.x)\n"
    "            most = fmaxf(most, from[i]);\n"
    "        most = over_block(most, true);\n"
    "    }\n"
    "    {\n"
    "        DeviceZoneScopedN(\"sum\");\n"
    "        for (int i = threadIdx.x; i < columns; i += blockDim.x)\n"
    "            sum += __expf(from[i] - most);\n"
    "        sum = over_block(sum, false);\n"
    "    }\n"
    "    DeviceZoneScopedN(\"write\");\n"
    "    for (int i = threadIdx.x; i < columns; i += blockDim.x)\n"
    "        to[i] = __expf(from[i] - most) / sum;\n"
    "}\n";

static sb_error error;

static void check(sb_status status) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "softmax: %s\n", error.message);
    exit(1);
}

static float *make_values(void) {
    float *values = malloc(sizeof *values * ROWS * COLUMNS);
    if (values == NULL) {
        fprintf(stderr, "softmax: there is not enough memory\n");
        exit(1);
    }
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)(i * 37 % 101) / 50.0F;
    return values;
}

/* The largest difference from what a row should be. */
static double check_row(const float *in, const float *out) {
    double sum = 0;
    double most = 0;
    for (int i = 0; i < COLUMNS; i++)
        sum += exp(in[i]);
    for (int i = 0; i < COLUMNS; i++)
        most = fmax(most, fabs(exp(in[i]) / sum - out[i]));
    return most;
}

static void launch(sb_cuda_kernel *kernel, uint64_t in, uint64_t out) {
    ZoneScopedN("launch");
    int columns = COLUMNS;
    void *arguments[] = {&in, &out, &columns};
    const sb_cuda_shape shape = {.grid = {ROWS, 1, 1}, .block = {THREADS, 1, 1}};
    check(sb_cuda_launch(kernel, &shape, NULL, arguments, &error));
}

int main(void) {
    sb_cuda_module *module;
    sb_cuda_kernel *kernel;
    sb_cuda_gpu gpu;
    uint64_t in;
    uint64_t out;
    float *values = make_values();
    float *result = make_values();
    const size_t size = sizeof *values * ROWS * COLUMNS;
    check(sb_cuda_build(&(sb_cuda_build_options){.source = source, .name = "softmax.cu"}, &module,
                        &error));
    check(sb_cuda_find(module, "softmax", &kernel, &error));
    check(sb_cuda_describe(&gpu, &error));
    check(sb_cuda_allocate(size, &in, &error));
    check(sb_cuda_allocate(size, &out, &error));
    check(sb_cuda_write(in, values, size, &error));
    for (int i = 0; i < LAUNCHES; i++)
        launch(kernel, in, out);
    check(sb_cuda_read(out, result, size, &error));
    check(sb_cuda_flush(&error));
    const sb_cuda_counts counts = sb_cuda_count();
    const sb_cuda_kernel_size about = sb_cuda_kernel_describe(kernel);
    printf("%s, %d SMs: %d rows of softmax, off by %.1e; %llu zones, %llu lost, +-%.0f ns; "
           "%d registers\n",
           gpu.name, gpu.sm_count, ROWS, check_row(values + COLUMNS, result + COLUMNS),
           (unsigned long long)counts.zones, (unsigned long long)counts.lost, sb_cuda_error_ns(),
           about.registers);
    sb_cuda_free(in);
    sb_cuda_free(out);
    sb_cuda_unload(module);
    free(values);
    free(result);
    return 0;
}
