/*
 * The cells of an op from the JSON of its message.
 */
#include <string.h>

#include "report/report_host.h"
#include "report/report_json.h"

sb_slice report_keep_cell(report_host *host, sb_slice text) {
    if (memchr(text.data, ',', text.size) == NULL || text.size == 0)
        return sb_intern_text(&host->texts, sb_intern_add(&host->texts, text));
    sb_output changed = sb_output_to_memory();
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == ',')
            sb_put_char(&changed, ';');
        else
            sb_put_char(&changed, text.data[i]);
    }
    const uint32_t index = sb_intern_add(&host->texts, sb_output_text(&changed));
    sb_output_discard(&changed);
    return sb_intern_text(&host->texts, index);
}

static sb_slice keep_python(report_host *host, json_t *value) {
    if (value == NULL)
        return (sb_slice){"", 0};
    sb_output text = sb_output_to_memory();
    report_put_python(&text, value);
    const sb_slice kept = report_keep_cell(host, sb_output_text(&text));
    sb_output_discard(&text);
    return kept;
}

/* Cells are collected here and copied into the arena when their number is known. */
typedef struct builder {
    report_host *host;
    sb_vector cells; /* report_cell */
} builder;

static void add_cell(builder *to, uint32_t column, sb_slice text) {
    for (size_t i = 0; i < to->cells.count; i++) {
        report_cell *cell = sb_vector_at(&to->cells, i);
        if (cell->column == column) {
            cell->text = text;
            return;
        }
    }
    *(report_cell *)sb_vector_push(&to->cells) = (report_cell){column, text};
}

static report_cell *finish_cells(builder *from, size_t *count) {
    *count = from->cells.count;
    report_cell *cells =
        sb_arena_alloc(&from->host->arena, from->cells.count * sizeof(report_cell) + 1);
    if (from->cells.count > 0)
        memcpy(cells, from->cells.data, from->cells.count * sizeof(report_cell));
    sb_vector_free(&from->cells);
    return cells;
}

/* Any key that is called like a column fills it. */
static void add_named_cells(builder *to, json_t *op) {
    const char *key;
    json_t *value;
    json_object_foreach(op, key, value) {
        const report_column column = report_column_of_key(sb_slice_of(key));
        if (column != REPORT_COLUMNS)
            add_cell(to, column, keep_python(to->host, value));
    }
}

/* ---- kernels ---- */

/* The texts of one member of each kernel, as Python shows a list of them. */
static sb_slice keep_list(report_host *host, json_t *kernels, const char *member) {
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        json_t *text = json_object_get(json_array_get(kernels, i), member);
        json_array_append(list, text == NULL ? json_null() : text);
    }
    const sb_slice kept = keep_python(host, list);
    json_decref(list);
    return kept;
}

static void add_kernels(builder *to, json_t *info) {
    json_t *compute = json_object_get(info, "compute_kernels");
    json_t *movers = json_object_get(info, "datamovement_kernels");
    const size_t count = json_array_size(compute);
    json_t *fidelity =
        count == 0 ? NULL : json_object_get(json_array_get(compute, count - 1), "math_fidelity");
    if (fidelity != NULL)
        add_cell(to, REPORT_COLUMN_FIDELITY, keep_python(to->host, fidelity));
    add_cell(to, REPORT_COLUMN_COMPUTE_SOURCE, keep_list(to->host, compute, "source"));
    add_cell(to, REPORT_COLUMN_COMPUTE_HASH, keep_list(to->host, compute, "name"));
    add_cell(to, REPORT_COLUMN_MOVER_SOURCE, keep_list(to->host, movers, "source"));
    add_cell(to, REPORT_COLUMN_MOVER_HASH, keep_list(to->host, movers, "name"));
}

/* "TENSIX_DM_0_max_kernel_size" is the column "TENSIX DM 0 MAX KERNEL SIZE [B]". */
static uint32_t size_column(report_host *host, const char *key) {
    sb_output title = sb_output_to_memory();
    for (const char *c = key; *c != '\0'; c++)
        sb_put_char(&title, report_title_char(*c));
    sb_put_text(&title, " [B]");
    const uint32_t column = sb_intern_add(&host->kernel_sizes, sb_output_text(&title));
    sb_output_discard(&title);
    return column;
}

static void add_kernel_sizes(report_host *host, json_t *info, report_op_info *op) {
    builder sizes = {host, sb_vector_of(sizeof(report_cell))};
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(info, "kernel_sizes"), key, value)
        add_cell(&sizes, size_column(host, key), keep_python(host, value));
    op->kernel_sizes = finish_cells(&sizes, &op->kernel_size_count);
}

/* ---- tensors ---- */

static sb_slice keep_memory(report_host *host, json_t *storage) {
    if (!json_is_object(storage))
        return keep_python(host, storage);
    json_t *config = json_object_get(storage, "memory_config");
    const sb_slice type = report_json_text(json_object_get(config, "buffer_type"));
    const sb_slice layout = report_json_text(json_object_get(config, "memory_layout"));
    sb_output text = sb_output_to_memory();
    sb_put_text(&text, "DEV_");
    sb_put(&text, keep_python(host, json_object_get(storage, "device_id")));
    sb_put_format(&text, "_%.*s_%.*s", (int)type.size, type.data, (int)layout.size, layout.data);
    for (size_t i = 0; i < text.used; i++) {
        if (text.buffer[i] != '_')
            text.buffer[i] = report_title_char(text.buffer[i]);
    }
    const sb_slice kept = report_keep_cell(host, sb_output_text(&text));
    sb_output_discard(&text);
    return kept;
}

static void take_tensor(report_host *host, json_t *tensor, sb_slice *cells) {
    static const char *const dimensions[] = {"W", "Z", "Y", "X"};
    json_t *shape = json_object_get(tensor, "shape");
    for (int i = 0; i < 4; i++)
        cells[i] = keep_python(host, json_object_get(shape, dimensions[i]));
    cells[4] = keep_python(host, json_object_get(tensor, "layout"));
    cells[5] = keep_python(host, json_object_get(tensor, "dtype"));
    cells[6] = keep_memory(host, json_object_get(tensor, "storage_type"));
}

static sb_slice *make_tensors(report_host *host, json_t *first, json_t *second, size_t *count) {
    const size_t first_count = json_array_size(first);
    *count = first_count + json_array_size(second);
    sb_slice *cells =
        sb_arena_alloc(&host->arena, *count * REPORT_TENSOR_CELLS * sizeof(sb_slice) + 1);
    for (size_t i = 0; i < *count; i++) {
        json_t *tensor =
            i < first_count ? json_array_get(first, i) : json_array_get(second, i - first_count);
        take_tensor(host, tensor, cells + i * REPORT_TENSOR_CELLS);
    }
    return cells;
}

/* ---- the performance model ---- */

static void add_model(builder *to, json_t *model, report_op_info *info) {
    static const struct {
        report_column column;
        const char *key;
    } members[] = {{REPORT_COLUMN_PM_IDEAL, "ideal_ns"},
                   {REPORT_COLUMN_PM_COMPUTE, "compute_ns"},
                   {REPORT_COLUMN_PM_BANDWIDTH, "bandwidth_ns"},
                   {REPORT_COLUMN_PM_INPUTS, "input_bws"},
                   {REPORT_COLUMN_PM_OUTPUTS, "output_bws"}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *value = json_object_get(model, members[i].key);
        if (value != NULL)
            add_cell(to, members[i].column, keep_python(to->host, value));
    }
    json_t *compute = json_object_get(model, "compute_ns");
    info->has_model = json_is_number(compute);
    info->model_compute_ns = json_number_value(compute);
}

report_op_info *report_make_info(report_host *host, void *json) {
    json_t *op = json;
    report_op_info *info = sb_arena_alloc_zeroed(&host->arena, sizeof *info);
    builder cells = {host, sb_vector_of(sizeof(report_cell))};
    json_t *device = json_object_get(op, "device_id");
    info->has_device = json_is_integer(device);
    info->device = json_integer_value(device);
    add_named_cells(&cells, op);
    if (json_object_get(op, "kernel_info") != NULL) {
        add_kernels(&cells, json_object_get(op, "kernel_info"));
        add_kernel_sizes(host, json_object_get(op, "kernel_info"), info);
    }
    if (json_object_get(op, "op_hash") != NULL)
        add_cell(&cells, REPORT_COLUMN_PROGRAM_HASH,
                 keep_python(host, json_object_get(op, "op_hash")));
    if (json_object_get(op, "performance_model") != NULL)
        add_model(&cells, json_object_get(op, "performance_model"), info);
    info->cells = finish_cells(&cells, &info->cell_count);
    info->inputs = make_tensors(host, json_object_get(op, "input_tensors"),
                                json_object_get(op, "optional_input_tensors"), &info->input_count);
    info->outputs =
        make_tensors(host, json_object_get(op, "output_tensors"), NULL, &info->output_count);
    if (info->input_count > host->max_inputs)
        host->max_inputs = info->input_count;
    if (info->output_count > host->max_outputs)
        host->max_outputs = info->output_count;
    return info;
}
