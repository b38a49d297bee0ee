#include "ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops_profile.h"

#define OUTPUT 16u
#define SLOTS 4u

static const char *kernel_folder = STROBE_OPS_KERNELS;

void ops_set_kernel_folder(const char *folder) {
    kernel_folder = folder;
}

/* ---- context and tensors ---- */

void ops_begin(ops_context *ops, sb_device *device, sb_core grid) {
    const sb_device_info *info = sb_device_describe(device);
    *ops = (ops_context){.device = device,
                         .grid = {grid.x < info->columns ? grid.x : info->columns,
                                  grid.y < info->rows ? grid.y : info->rows}};
}

void ops_end(ops_context *ops) {
    ops_programs_destroy(&ops->programs);
    *ops = (ops_context){0};
}

static uint32_t tiles_along(uint32_t length) {
    return (length + OPS_TILE - 1) / OPS_TILE;
}

static uint32_t tile_count(const ops_tensor *tensor) {
    return tiles_along(tensor->rows) * tiles_along(tensor->columns);
}

sb_status ops_tensor_create(ops_context *ops, uint32_t rows, uint32_t columns, ops_tensor *tensor,
                            sb_error *error) {
    *tensor = (ops_tensor){.rows = rows, .columns = columns};
    const sb_buffer_options options = {.memory = SB_DRAM,
                                       .size = (size_t)tile_count(tensor) * OPS_TILE_BYTES,
                                       .page_size = OPS_TILE_BYTES};
    return sb_buffer_create(ops->device, &options, &tensor->buffer, error);
}

void ops_tensor_destroy(ops_tensor *tensor) {
    sb_buffer_destroy(tensor->buffer);
    *tensor = (ops_tensor){0};
}

/* Where a value is among those of all tiles. */
static size_t place_of(const ops_tensor *tensor, uint32_t row, uint32_t column) {
    const size_t tile = (size_t)(row / OPS_TILE) * tiles_along(tensor->columns) + column / OPS_TILE;
    return tile * OPS_TILE_WORDS + row % OPS_TILE * OPS_TILE + column % OPS_TILE;
}

static int32_t *allocate_tiles(const ops_tensor *tensor) {
    int32_t *tiles = calloc(tile_count(tensor), OPS_TILE_BYTES);
    if (tiles == NULL)
        abort();
    return tiles;
}

sb_status ops_tensor_write(ops_tensor *tensor, const int32_t *values, sb_error *error) {
    ZoneScopedN("HWCommandQueue_write_buffer");
    int32_t *tiles = allocate_tiles(tensor);
    for (uint32_t row = 0; row < tensor->rows; row++)
        for (uint32_t column = 0; column < tensor->columns; column++)
            tiles[place_of(tensor, row, column)] = values[(size_t)row * tensor->columns + column];
    const sb_status status = sb_buffer_write(tensor->buffer, 0, tiles,
                                             (size_t)tile_count(tensor) * OPS_TILE_BYTES, error);
    free(tiles);
    return status;
}

sb_status ops_tensor_read(ops_tensor *tensor, int32_t *values, sb_error *error) {
    ZoneScopedN("HWCommandQueue_read_buffer");
    int32_t *tiles = allocate_tiles(tensor);
    const sb_status status = sb_buffer_read(tensor->buffer, 0, tiles,
                                            (size_t)tile_count(tensor) * OPS_TILE_BYTES, error);
    for (uint32_t row = 0; row < tensor->rows; row++)
        for (uint32_t column = 0; column < tensor->columns; column++)
            values[(size_t)row * tensor->columns + column] = tiles[place_of(tensor, row, column)];
    free(tiles);
    return status;
}

/* ---- programs with a reader, a compute kernel and a writer ---- */

/* Units of work (tiles, bands of tiles) are spread over the cores, the same number to each. */
typedef struct work {
    sb_core_range cores;
    uint32_t width;
    uint32_t core_count;
    uint32_t units;
} work;

static work spread(const ops_context *ops, uint32_t units) {
    uint32_t count = ops->grid.x * ops->grid.y;
    if (count > units)
        count = units;
    const uint32_t width = count < ops->grid.x ? count : ops->grid.x;
    const uint32_t height = (count + width - 1) / width;
    return (work){.cores = {{0, 0}, {width - 1, height - 1}},
                  .width = width,
                  .core_count = width * height,
                  .units = units};
}

static sb_core core_at(const work *spread_work, uint32_t index) {
    return (sb_core){index % spread_work->width, index / spread_work->width};
}

/* The units of one core: the first of them, and how many. */
static uint32_t share_of(const work *all, uint32_t index, uint32_t *first) {
    const uint32_t least = all->units / all->core_count;
    const uint32_t more = all->units % all->core_count;
    *first = index * least + (index < more ? index : more);
    return least + (index < more ? 1 : 0);
}

static sb_status add_kernel(sb_program *program, const work *all, const char *file,
                            sb_processor processor, const char *define, uint32_t value,
                            uint32_t *number, sb_error *error) {
    char path[1024];
    char text[16];
    snprintf(path, sizeof path, "%s/%s", kernel_folder, file);
    snprintf(text, sizeof text, "%u", value);
    const sb_define defines[] = {{define, text}};
    const sb_kernel_options options = {.path = path,
                                       .include = kernel_folder,
                                       .processor = processor,
                                       .cores = all->cores,
                                       .defines = defines,
                                       .define_count = define != NULL ? 1 : 0};
    return sb_program_add_kernel(program, &options, number, error);
}

static sb_status add_circular(sb_program *program, const work *all, uint32_t id, uint32_t pages,
                              sb_error *error) {
    const sb_circular_options options = {
        .id = id, .cores = all->cores, .page_size = OPS_TILE_BYTES, .page_count = pages};
    return sb_program_add_circular(program, &options, error);
}

/* What one core's three kernels are told. */
typedef struct arguments {
    uint32_t reader[8];
    uint32_t compute[4];
    uint32_t writer[3];
} arguments;

typedef struct operands {
    const ops_tensor *a;
    const ops_tensor *b; /* NULL: there is one */
    const ops_tensor *out;
} operands;

typedef struct pipeline {
    const char *code;        /* what reports call the operation */
    ops_attribute attribute; /* that tells it from others of this code; no name: none */
    const char *reader;
    uint32_t inputs;     /* circular buffers 0 to inputs - 1 */
    const char *compute; /* NULL: the writer takes what the reader reads */
    uint32_t operation;
    uint32_t pages; /* of each circular buffer */
    uint32_t units;
    /* Fills in what core gets: units first to first + count. */
    void (*fill)(const operands *op, uint32_t first, uint32_t count, arguments *core);
    const operands *op;
} pipeline;

static sb_status set_arguments(sb_program *program, const pipeline *line, const work *all,
                               const uint32_t kernels[3], sb_error *error) {
    for (uint32_t i = 0; i < all->core_count; i++) {
        uint32_t first = 0;
        const uint32_t count = share_of(all, i, &first);
        const sb_core core = core_at(all, i);
        arguments told = {0};
        line->fill(line->op, first, count, &told);
        sb_status status = sb_program_set_args(program, kernels[0], core, told.reader, 8, error);
        if (status == SB_OK)
            status = sb_program_set_args(program, kernels[1], core, told.writer, 3, error);
        if (status == SB_OK && line->compute != NULL)
            status = sb_program_set_args(program, kernels[2], core, told.compute, 4, error);
        if (status != SB_OK)
            return status;
    }
    return SB_OK;
}

static sb_status add_parts(sb_program *program, const pipeline *line, const work *all,
                           uint32_t kernels[3], sb_error *error) {
    const uint32_t output = line->compute != NULL ? OUTPUT : 0;
    sb_status status = add_kernel(program, all, line->reader, SB_BRISC, "INPUTS", line->inputs,
                                  &kernels[0], error);
    if (status == SB_OK)
        status = add_kernel(program, all, "write_tiles.c", SB_NCRISC, "OUTPUT", output, &kernels[1],
                            error);
    if (status == SB_OK && line->compute != NULL)
        status = add_kernel(program, all, line->compute, SB_TRISC1, "OPERATION", line->operation,
                            &kernels[2], error);
    for (uint32_t id = 0; id < line->inputs && status == SB_OK; id++)
        status = add_circular(program, all, id, line->pages, error);
    if (status == SB_OK && line->compute != NULL)
        status = add_circular(program, all, OUTPUT, line->pages, error);
    return status;
}

/* ---- telling the profiler, building, running ---- */

static ops_operand operand_of(const ops_tensor *tensor) {
    if (tensor == NULL)
        return (ops_operand){0};
    return (ops_operand){tensor->rows, tensor->columns, "INT32", OPS_TILE};
}

static ops_description describe(const pipeline *line, const work *all, const sb_program *program,
                                const uint32_t kernels[3]) {
    return (ops_description){
        .code = line->code,
        .inputs = {operand_of(line->op->a), operand_of(line->op->b)},
        .input_count = line->op->b == NULL ? 1 : 2,
        .output = operand_of(line->op->out),
        .attributes = {line->attribute},
        .attribute_count = line->attribute.name == NULL ? 0 : 1,
        .core_count = all->core_count,
        .program = program,
        .kernels = {{line->reader, SB_BRISC, kernels[0]},
                    {"write_tiles.c", SB_NCRISC, kernels[1]},
                    {line->compute, SB_TRISC1, kernels[2]}},
    };
}

static sb_status run_pipeline(ops_context *ops, const pipeline *line, sb_error *error) {
    const work all = spread(ops, line->units);
    uint32_t kernels[3] = {0};
    ops_call call;
    ops_call_begin(&call, ops->device);
    sb_program *program = ops_programs_add(&ops->programs, ops->device);
    sb_program_set_id(program, call.id);
    sb_status status = add_parts(program, line, &all, kernels, error);
    if (status == SB_OK)
        status = set_arguments(program, line, &all, kernels, error);
    if (status == SB_OK)
        status = ops_build_and_enqueue(program, error);
    const ops_description description = describe(line, &all, program, kernels);
    ops_call_end(&call, status == SB_OK ? &description : NULL);
    return status;
}

/* ---- operations ---- */

static uint32_t address(const ops_tensor *tensor) {
    return tensor != NULL ? (uint32_t)sb_buffer_address(tensor->buffer) : 0;
}

static ops_shape shape_of(const ops_tensor *tensor) {
    return (ops_shape){tensor->rows, tensor->columns};
}

static void write_range(arguments *core, const ops_tensor *out, uint32_t first, uint32_t count) {
    core->writer[0] = address(out);
    core->writer[1] = first;
    core->writer[2] = count;
}

static void fill_elementwise(const operands *given, uint32_t first, uint32_t count,
                             arguments *core) {
    const uint32_t reader[] = {address(given->a), address(given->b), first, count};
    memcpy(core->reader, reader, sizeof reader);
    core->compute[0] = count;
    write_range(core, given->out, first, count);
}

static const char *const binary_names[] = {
    [OPS_ADD] = "BinaryOpType::ADD", [OPS_MULTIPLY] = "BinaryOpType::MUL"};

sb_status ops_binary(ops_context *ops, ops_binary_kind kind, const ops_tensor *a,
                     const ops_tensor *b, const ops_tensor *out, sb_error *error) {
    const sb_status fits = ops_check_binary(shape_of(a), shape_of(b), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const operands given = {a, b, out};
    return run_pipeline(ops,
                        &(pipeline){.code = "BinaryNgDeviceOperation",
                                    .attribute = {"binary_op_type", binary_names[kind]},
                                    .reader = "read_tiles.c",
                                    .inputs = 2,
                                    .compute = "elementwise.c",
                                    .operation = (uint32_t)kind,
                                    .pages = 2,
                                    .units = tile_count(a),
                                    .fill = fill_elementwise,
                                    .op = &given},
                        error);
}

sb_status ops_relu(ops_context *ops, const ops_tensor *a, const ops_tensor *out, sb_error *error) {
    const sb_status fits = ops_check_same("relu", shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const operands given = {a, NULL, out};
    return run_pipeline(ops,
                        &(pipeline){.code = "UnaryDeviceOperation",
                                    .attribute = {"op_chain", "UnaryOpType::RELU"},
                                    .reader = "read_tiles.c",
                                    .inputs = 1,
                                    .compute = "elementwise.c",
                                    .operation = 2,
                                    .pages = 2,
                                    .units = tile_count(a),
                                    .fill = fill_elementwise,
                                    .op = &given},
                        error);
}

static void fill_matmul(const operands *given, uint32_t first, uint32_t count, arguments *core) {
    const uint32_t inner = tiles_along(given->a->columns);
    const uint32_t reader[] = {
        address(given->a), address(given->b), inner, tiles_along(given->b->columns), first, count};
    memcpy(core->reader, reader, sizeof reader);
    core->compute[0] = inner;
    core->compute[1] = count;
    write_range(core, given->out, first, count);
}

sb_status ops_matmul(ops_context *ops, const ops_tensor *a, const ops_tensor *b,
                     const ops_tensor *out, sb_error *error) {
    const sb_status fits = ops_check_matmul(shape_of(a), shape_of(b), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const operands given = {a, b, out};
    return run_pipeline(ops,
                        &(pipeline){.code = "MatmulDeviceOperation",
                                    .reader = "read_matmul.c",
                                    .inputs = 2,
                                    .compute = "matmul.c",
                                    .pages = 2,
                                    .units = tile_count(out),
                                    .fill = fill_matmul,
                                    .op = &given},
                        error);
}

static void fill_transpose(const operands *given, uint32_t first, uint32_t count, arguments *core) {
    const uint32_t reader[] = {address(given->a), tiles_along(given->a->rows),
                               tiles_along(given->a->columns), first, count};
    memcpy(core->reader, reader, sizeof reader);
    core->compute[0] = count;
    write_range(core, given->out, first, count);
}

sb_status ops_transpose(ops_context *ops, const ops_tensor *a, const ops_tensor *out,
                        sb_error *error) {
    const sb_status fits = ops_check_transpose(shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const operands given = {a, NULL, out};
    return run_pipeline(ops,
                        &(pipeline){.code = "TransposeDeviceOperation",
                                    .reader = "read_transposed.c",
                                    .inputs = 1,
                                    .compute = "transpose.c",
                                    .pages = 2,
                                    .units = tile_count(out),
                                    .fill = fill_transpose,
                                    .op = &given},
                        error);
}

/* ---- operations on rows: a unit is a band of tiles ---- */

static void fill_rowwise(const operands *given, uint32_t first, uint32_t count, arguments *core) {
    const uint32_t tiles = tiles_along(given->a->columns);
    const uint32_t results = tiles_along(given->out->columns);
    const uint32_t reader[] = {address(given->a), 0, first * tiles, count * tiles};
    const uint32_t compute[] = {given->a->columns, tiles, count, first * OPS_TILE};
    memcpy(core->reader, reader, sizeof reader);
    memcpy(core->compute, compute, sizeof compute);
    write_range(core, given->out, first * results, count * results);
}

enum { ROWS_SOFTMAX = 0, ROWS_CAUSAL = 1, ROWS_NORM = 2, ROWS_REDUCE = 3 };

static const struct {
    const char *code;
    ops_attribute attribute;
} rowwise[] = {
    [ROWS_SOFTMAX] = {"SoftmaxDeviceOperation", {"is_causal_mask", "false"}},
    [ROWS_CAUSAL] = {"SoftmaxDeviceOperation", {"is_causal_mask", "true"}},
    [ROWS_NORM] = {"LayerNormDeviceOperation", {"norm_type", "LayerNormType::LAYERNORM"}},
    [ROWS_REDUCE] = {"ReduceDeviceOperation", {"math_op", "ReduceOpMath::SUM"}},
};

static sb_status run_rowwise(ops_context *ops, uint32_t operation, const ops_tensor *a,
                             const ops_tensor *out, sb_error *error) {
    const operands given = {a, NULL, out};
    return run_pipeline(ops,
                        &(pipeline){.code = rowwise[operation].code,
                                    .attribute = rowwise[operation].attribute,
                                    .reader = "read_tiles.c",
                                    .inputs = 1,
                                    .compute = "rowwise.c",
                                    .operation = operation,
                                    .pages = tiles_along(a->columns),
                                    .units = tiles_along(a->rows),
                                    .fill = fill_rowwise,
                                    .op = &given},
                        error);
}

sb_status ops_softmax(ops_context *ops, const ops_tensor *a, bool is_causal, const ops_tensor *out,
                      sb_error *error) {
    const sb_status fits = ops_check_same("softmax", shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    return run_rowwise(ops, is_causal ? ROWS_CAUSAL : ROWS_SOFTMAX, a, out, error);
}

sb_status ops_layer_norm(ops_context *ops, const ops_tensor *a, const ops_tensor *out,
                         sb_error *error) {
    const sb_status fits = ops_check_same("layer norm", shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    return run_rowwise(ops, ROWS_NORM, a, out, error);
}

sb_status ops_reduce(ops_context *ops, const ops_tensor *a, const ops_tensor *out,
                     sb_error *error) {
    const sb_status fits = ops_check_reduce(shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    return run_rowwise(ops, ROWS_REDUCE, a, out, error);
}

/* ---- embedding ---- */

static void fill_embedding(const operands *given, uint32_t first, uint32_t count, arguments *core) {
    const uint32_t reader[] = {address(given->a),
                               address(given->b),
                               tiles_along(given->b->rows),
                               tiles_along(given->b->columns),
                               first,
                               count};
    memcpy(core->reader, reader, sizeof reader);
    write_range(core, given->out, first, count);
}

sb_status ops_embedding(ops_context *ops, const ops_tensor *ids, const ops_tensor *table,
                        const ops_tensor *out, sb_error *error) {
    const sb_status fits =
        ops_check_embedding(shape_of(ids), shape_of(table), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const operands given = {ids, table, out};
    return run_pipeline(ops,
                        &(pipeline){.code = "EmbeddingsDeviceOperation",
                                    .reader = "read_embedding.c",
                                    .inputs = 2,
                                    .pages = 2,
                                    .units = tile_count(out),
                                    .fill = fill_embedding,
                                    .op = &given},
                        error);
}

/* ---- all-gather ---- */

typedef struct gather {
    uint32_t own_first; /* tiles of the result */
    uint32_t other_first;
    uint32_t other_count;
} gather;

static sb_status add_gather(sb_program *program, const work *all, const operands *given,
                            const gather *share, uint32_t kernels[2], sb_error *error) {
    uint32_t id = 0;
    sb_status status =
        add_kernel(program, all, "gather_send.c", SB_BRISC, "SLOTS", SLOTS, &kernels[0], error);
    if (status == SB_OK)
        status = add_kernel(program, all, "gather_receive.c", SB_NCRISC, "SLOTS", SLOTS,
                            &kernels[1], error);
    if (status == SB_OK)
        status = add_circular(program, all, 0, 1, error);
    if (status == SB_OK)
        status = add_circular(program, all, 1, SLOTS, error);
    for (int i = 0; i < 2 && status == SB_OK; i++)
        status = sb_program_add_semaphore(program, all->cores, 0, &id, error);
    const uint32_t sender[] = {address(given->a), address(given->out), tile_count(given->a),
                               share->own_first};
    const uint32_t receiver[] = {address(given->out), share->other_count, share->other_first};
    if (status == SB_OK)
        status = sb_program_set_args(program, kernels[0], (sb_core){0, 0}, sender, 4, error);
    if (status == SB_OK)
        status = sb_program_set_args(program, kernels[1], (sb_core){0, 0}, receiver, 3, error);
    return status;
}

static sb_status start_gather(ops_context *ops, const operands *given, const gather *share,
                              sb_error *error) {
    const work all = spread(ops, 1);
    uint32_t kernels[2] = {0};
    ops_call call;
    ops_call_begin(&call, ops->device);
    sb_program *program = ops_programs_add(&ops->programs, ops->device);
    sb_program_set_id(program, call.id);
    sb_status status = add_gather(program, &all, given, share, kernels, error);
    if (status == SB_OK)
        status = ops_build_and_enqueue(program, error);
    const ops_description description = {
        .code = "AllGatherDeviceOperation",
        .inputs = {operand_of(given->a)},
        .input_count = 1,
        .output = operand_of(given->out),
        .core_count = all.core_count,
        .program = program,
        .kernels = {{"gather_send.c", SB_BRISC, kernels[0]},
                    {"gather_receive.c", SB_NCRISC, kernels[1]}},
    };
    ops_call_end(&call, status == SB_OK ? &description : NULL);
    return status;
}

sb_status ops_all_gather(ops_context ops[2], const ops_tensor a[2], const ops_tensor out[2],
                         sb_error *error) {
    const uint32_t counts[2] = {tile_count(&a[0]), tile_count(&a[1])};
    for (int i = 0; i < 2; i++)
        if (a[i].columns != out[i].columns || tile_count(&out[i]) != counts[0] + counts[1])
            return ops_refuse("all-gather", shape_of(&a[i]), shape_of(&out[i]), error);
    /* Both must be idle: what one sends must not arrive before the other has begun. */
    for (int i = 0; i < 2; i++) {
        const sb_status status = sb_device_finish(ops[i].device, error);
        if (status != SB_OK)
            return status;
    }
    const operands given[2] = {{&a[0], NULL, &out[0]}, {&a[1], NULL, &out[1]}};
    const gather shares[2] = {{0, counts[0], counts[1]}, {counts[0], 0, counts[0]}};
    const sb_status status = start_gather(&ops[0], &given[0], &shares[0], error);
    return status != SB_OK ? status : start_gather(&ops[1], &given[1], &shares[1], error);
}
