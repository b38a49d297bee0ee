#include "float_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops_profile.h"

static const char *kernel_folder = STROBE_CUDA_KERNELS;

void float_ops_set_kernel_folder(const char *folder) {
    kernel_folder = folder;
}

/* ---- context ---- */

void float_ops_begin(float_ops *ops, sb_device *device) {
    *ops = (float_ops){.device = device};
}

void float_ops_end(float_ops *ops) {
    ops_programs_destroy(&ops->programs);
    *ops = (float_ops){0};
}

/* ---- tensors ---- */

static size_t value_count(const float_tensor *tensor) {
    return (size_t)tensor->rows * tensor->columns;
}

static size_t byte_count(const float_tensor *tensor) {
    return value_count(tensor) * (tensor->type == FLOAT_BFLOAT16 ? 2 : 4);
}

sb_status float_tensor_create(float_ops *ops, float_type type, uint32_t rows, uint32_t columns,
                              float_tensor *tensor, sb_error *error) {
    *tensor = (float_tensor){.type = type, .rows = rows, .columns = columns};
    const sb_buffer_options options = {.memory = SB_DRAM, .size = byte_count(tensor)};
    return sb_buffer_create(ops->device, &options, &tensor->buffer, error);
}

void float_tensor_destroy(float_tensor *tensor) {
    sb_buffer_destroy(tensor->buffer);
    *tensor = (float_tensor){0};
}

static uint16_t narrow(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

static float widen(uint16_t number) {
    const uint32_t bits = (uint32_t)number << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float float_round(float value) {
    return widen(narrow(value));
}

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL)
        abort();
    return memory;
}

sb_status float_tensor_write(float_tensor *tensor, const float *values, sb_error *error) {
    ZoneScopedN("HWCommandQueue_write_buffer");
    void *bytes = allocate(byte_count(tensor));
    for (size_t i = 0; i < value_count(tensor); i++)
        if (tensor->type == FLOAT_BFLOAT16)
            ((uint16_t *)bytes)[i] = narrow(values[i]);
        else if (tensor->type == FLOAT_FLOAT32)
            ((float *)bytes)[i] = values[i];
        else
            ((uint32_t *)bytes)[i] = (uint32_t)values[i];
    const sb_status status = sb_buffer_write(tensor->buffer, 0, bytes, byte_count(tensor), error);
    free(bytes);
    return status;
}

sb_status float_tensor_read(float_tensor *tensor, float *values, sb_error *error) {
    ZoneScopedN("HWCommandQueue_read_buffer");
    void *bytes = allocate(byte_count(tensor));
    const sb_status status = sb_buffer_read(tensor->buffer, 0, bytes, byte_count(tensor), error);
    for (size_t i = 0; i < value_count(tensor) && status == SB_OK; i++)
        if (tensor->type == FLOAT_BFLOAT16)
            values[i] = widen(((uint16_t *)bytes)[i]);
        else if (tensor->type == FLOAT_FLOAT32)
            values[i] = ((float *)bytes)[i];
        else
            values[i] = (float)((uint32_t *)bytes)[i];
    free(bytes);
    return status;
}

/* ---- an operation: one kernel ---- */

enum { PARAMETERS_MAX = 6 };

typedef struct operation {
    const char *code;        /* what reports call it */
    ops_attribute attribute; /* that tells it from others of this code; no name: none */
    const char *file;
    const char *function;
    const char *number; /* OPERATION in the source; NULL: it has none */
    const float_tensor *a;
    const float_tensor *b; /* NULL: there is one */
    const float_tensor *out;
    uint32_t grid[2];
    uint32_t block[2];
    const sb_parameter *parameters;
    size_t parameter_count;
} operation;

static sb_status add_kernel(sb_program *program, const operation *op, uint32_t *number,
                            sb_error *error) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", kernel_folder, op->file);
    const sb_define defines[] = {
        {"RESULT", op->out->type == FLOAT_BFLOAT16 ? "bfloat16" : "float"},
        {"OPERATION", op->number},
    };
    const sb_kernel_options options = {.path = path,
                                       .include = kernel_folder,
                                       .defines = defines,
                                       .define_count = op->number != NULL ? 2 : 1,
                                       .function = op->function,
                                       .grid = {op->grid[0], op->grid[1], 1},
                                       .block = {op->block[0], op->block[1], 1}};
    const sb_status status = sb_program_add_kernel(program, &options, number, error);
    if (status != SB_OK)
        return status;
    return sb_program_set_parameters(program, *number, op->parameters, op->parameter_count, error);
}

static ops_operand operand_of(const float_tensor *tensor) {
    static const char *const types[] = {"BFLOAT16", "FLOAT32", "UINT32"};
    if (tensor == NULL)
        return (ops_operand){0};
    return (ops_operand){tensor->rows, tensor->columns, types[tensor->type], 1};
}

static ops_description describe(const float_ops *ops, const operation *op,
                                const sb_program *program, uint32_t kernel) {
    const uint32_t cores = sb_device_describe(ops->device)->cores;
    const uint32_t blocks = op->grid[0] * (op->grid[1] > 0 ? op->grid[1] : 1);
    return (ops_description){
        .code = op->code,
        .inputs = {operand_of(op->a), operand_of(op->b)},
        .input_count = op->b == NULL ? 1 : 2,
        .output = operand_of(op->out),
        .attributes = {op->attribute},
        .attribute_count = op->attribute.name == NULL ? 0 : 1,
        .core_count = blocks < cores ? blocks : cores,
        .program = program,
        .kernels = {{op->file, SB_TRISC1, kernel}},
    };
}

static sb_status run(float_ops *ops, const operation *op, sb_error *error) {
    uint32_t kernel = 0;
    ops_call call;
    ops_call_begin(&call, ops->device);
    sb_program *program = ops_programs_add(&ops->programs, ops->device);
    sb_program_set_id(program, call.id);
    sb_status status = add_kernel(program, op, &kernel, error);
    if (status == SB_OK)
        status = ops_build_and_enqueue(program, error);
    const ops_description description = describe(ops, op, program, kernel);
    ops_call_end(&call, status == SB_OK ? &description : NULL);
    return status;
}

/* ---- operations ---- */

static uint64_t address(const float_tensor *tensor) {
    return tensor != NULL ? sb_buffer_address(tensor->buffer) : 0;
}

static ops_shape shape_of(const float_tensor *tensor) {
    return (ops_shape){tensor->rows, tensor->columns};
}

static uint32_t parts_of(uint32_t length, uint32_t part) {
    return (length + part - 1) / part;
}

static sb_status run_elementwise(float_ops *ops, operation op, sb_error *error) {
    enum { THREADS = 256, VALUES = 4 };
    const uint64_t pointers[] = {address(op.a), address(op.b), address(op.out)};
    const int32_t count = (int32_t)value_count(op.a);
    const uint32_t most = 2 * sb_device_describe(ops->device)->cores;
    const uint32_t blocks = parts_of((uint32_t)count, THREADS * VALUES);
    const sb_parameter parameters[] = {SB_PARAMETER(pointers[0]), SB_PARAMETER(pointers[1]),
                                       SB_PARAMETER(pointers[2]), SB_PARAMETER(count)};
    op.file = "elementwise.cu";
    op.function = "elementwise";
    op.grid[0] = blocks < most ? blocks : most;
    op.block[0] = THREADS;
    op.parameters = parameters;
    op.parameter_count = 4;
    return run(ops, &op, error);
}

sb_status float_ops_binary(float_ops *ops, float_binary kind, const float_tensor *a,
                           const float_tensor *b, const float_tensor *out, sb_error *error) {
    const sb_status fits = ops_check_binary(shape_of(a), shape_of(b), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const bool is_sum = kind == FLOAT_ADD;
    return run_elementwise(
        ops,
        (operation){
            .code = "BinaryNgDeviceOperation",
            .attribute = {"binary_op_type", is_sum ? "BinaryOpType::ADD" : "BinaryOpType::MUL"},
            .number = is_sum ? "0" : "1",
            .a = a,
            .b = b,
            .out = out},
        error);
}

sb_status float_ops_relu(float_ops *ops, const float_tensor *a, const float_tensor *out,
                         sb_error *error) {
    const sb_status fits = ops_check_same("relu", shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    return run_elementwise(ops,
                           (operation){.code = "UnaryDeviceOperation",
                                       .attribute = {"op_chain", "UnaryOpType::RELU"},
                                       .number = "2",
                                       .a = a,
                                       .out = out},
                           error);
}

sb_status float_ops_matmul(float_ops *ops, const float_tensor *a, const float_tensor *b,
                           const float_tensor *out, sb_error *error) {
    enum { SIDE = 64, THREADS = 128 };
    const sb_status fits = ops_check_matmul(shape_of(a), shape_of(b), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const uint64_t pointers[] = {address(a), address(b), address(out)};
    const int32_t sizes[] = {(int32_t)a->rows, (int32_t)a->columns, (int32_t)b->columns};
    const sb_parameter parameters[] = {SB_PARAMETER(pointers[0]), SB_PARAMETER(pointers[1]),
                                       SB_PARAMETER(pointers[2]), SB_PARAMETER(sizes[0]),
                                       SB_PARAMETER(sizes[1]),    SB_PARAMETER(sizes[2])};
    return run(ops,
               &(operation){.code = "MatmulDeviceOperation",
                            .file = "matmul.cu",
                            .function = "matmul",
                            .a = a,
                            .b = b,
                            .out = out,
                            .grid = {parts_of(b->columns, SIDE), parts_of(a->rows, SIDE)},
                            .block = {THREADS},
                            .parameters = parameters,
                            .parameter_count = 6},
               error);
}

sb_status float_ops_transpose(float_ops *ops, const float_tensor *a, const float_tensor *out,
                              sb_error *error) {
    enum { SIDE = 32, ROWS = 8 };
    const sb_status fits = ops_check_transpose(shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const uint64_t pointers[] = {address(a), address(out)};
    const int32_t sizes[] = {(int32_t)a->rows, (int32_t)a->columns};
    const sb_parameter parameters[] = {SB_PARAMETER(pointers[0]), SB_PARAMETER(pointers[1]),
                                       SB_PARAMETER(sizes[0]), SB_PARAMETER(sizes[1])};
    return run(ops,
               &(operation){.code = "TransposeDeviceOperation",
                            .file = "transpose.cu",
                            .function = "transpose",
                            .a = a,
                            .out = out,
                            .grid = {parts_of(a->columns, SIDE), parts_of(a->rows, SIDE)},
                            .block = {SIDE, ROWS},
                            .parameters = parameters,
                            .parameter_count = 4},
               error);
}

static sb_status run_rowwise(float_ops *ops, operation op, float scale, sb_error *error) {
    enum { THREADS = 128 };
    const uint64_t pointers[] = {address(op.a), address(op.out)};
    const int32_t columns = (int32_t)op.a->columns;
    const sb_parameter parameters[] = {SB_PARAMETER(pointers[0]), SB_PARAMETER(pointers[1]),
                                       SB_PARAMETER(columns), SB_PARAMETER(scale)};
    op.file = "rowwise.cu";
    op.function = "rowwise";
    op.grid[0] = op.a->rows;
    op.block[0] = THREADS;
    op.parameters = parameters;
    op.parameter_count = 4;
    return run(ops, &op, error);
}

sb_status float_ops_softmax(float_ops *ops, const float_tensor *a, float scale, bool is_causal,
                            const float_tensor *out, sb_error *error) {
    const sb_status fits = ops_check_same("softmax", shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    return run_rowwise(ops,
                       (operation){.code = "SoftmaxDeviceOperation",
                                   .attribute = {"is_causal_mask", is_causal ? "true" : "false"},
                                   .number = is_causal ? "1" : "0",
                                   .a = a,
                                   .out = out},
                       scale, error);
}

sb_status float_ops_layer_norm(float_ops *ops, const float_tensor *a, const float_tensor *out,
                               sb_error *error) {
    const sb_status fits = ops_check_same("layer norm", shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    return run_rowwise(ops,
                       (operation){.code = "LayerNormDeviceOperation",
                                   .attribute = {"norm_type", "LayerNormType::LAYERNORM"},
                                   .number = "2",
                                   .a = a,
                                   .out = out},
                       1, error);
}

sb_status float_ops_reduce(float_ops *ops, const float_tensor *a, const float_tensor *out,
                           sb_error *error) {
    const sb_status fits = ops_check_reduce(shape_of(a), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    return run_rowwise(ops,
                       (operation){.code = "ReduceDeviceOperation",
                                   .attribute = {"math_op", "ReduceOpMath::SUM"},
                                   .number = "3",
                                   .a = a,
                                   .out = out},
                       1, error);
}

sb_status float_ops_embedding(float_ops *ops, const float_tensor *ids, const float_tensor *table,
                              const float_tensor *out, sb_error *error) {
    enum { THREADS = 128 };
    const sb_status fits =
        ops_check_embedding(shape_of(ids), shape_of(table), shape_of(out), error);
    if (fits != SB_OK)
        return fits;
    const uint64_t pointers[] = {address(ids), address(table), address(out)};
    const int32_t sizes[] = {(int32_t)table->rows, (int32_t)table->columns};
    const sb_parameter parameters[] = {SB_PARAMETER(pointers[0]), SB_PARAMETER(pointers[1]),
                                       SB_PARAMETER(pointers[2]), SB_PARAMETER(sizes[0]),
                                       SB_PARAMETER(sizes[1])};
    return run(ops,
               &(operation){.code = "EmbeddingsDeviceOperation",
                            .file = "embedding.cu",
                            .function = "embedding",
                            .a = ids,
                            .b = table,
                            .out = out,
                            .grid = {out->rows},
                            .block = {THREADS},
                            .parameters = parameters,
                            .parameter_count = 5},
               error);
}
