/*
 * Times of ops from the host's zones (tracy_ops_times.csv).
 *
 * Nothing but the text of a zone is quoted in this file, so what stands to the right of it may be
 * spread over more fields than there are titles. The columns that are needed stand to its left, or
 * right behind it, or at the end.
 */
#include "report/report_host.h"

typedef struct zone_columns {
    size_t name;
    size_t text;
    size_t start;
    size_t duration;
    size_t parent; /* counted from the end, from 1 */
    size_t count;
} zone_columns;

static bool find_title(const sb_csv *csv, const char *title, size_t *column) {
    for (size_t i = 0; i < csv->field_count; i++) {
        if (sb_slice_is(sb_slice_trim(csv->fields[i]), title)) {
            *column = i;
            return true;
        }
    }
    return false;
}

static bool take_titles(const sb_csv *csv, zone_columns *columns) {
    size_t parent = 0;
    columns->count = csv->field_count;
    columns->parent =
        find_title(csv, "special_parent_text", &parent) ? csv->field_count - parent : 0;
    return find_title(csv, "name", &columns->name) &&
           find_title(csv, "zone_text", &columns->text) &&
           find_title(csv, "ns_since_start", &columns->start) &&
           find_title(csv, "exec_time_ns", &columns->duration);
}

/* The number behind the last colon: "id:1024". */
static bool parse_id(sb_slice text, uint64_t *id) {
    sb_slice rest = text;
    for (size_t at = sb_slice_find(rest, ":"); at != SB_NOT_FOUND; at = sb_slice_find(rest, ":"))
        rest = sb_slice_after(rest, at + 1);
    return report_parse_number(sb_slice_trim(rest), id);
}

/* index + 1 of the first op with this id; 0: none. */
static uint32_t first_op(report_host *host, uint64_t id) {
    const uint32_t index = sb_intern_add(&host->op_ids, (sb_slice){(const char *)&id, sizeof id});
    if (index == host->first_of_id.count)
        sb_vector_push(&host->first_of_id);
    return *(uint32_t *)sb_vector_at(&host->first_of_id, index);
}

/* An op that ran, but whose message did not arrive: all that is known is in its id. */
static uint32_t add_silent_op(report_host *host, uint64_t id, sb_slice zone_name) {
    enum { DEVICE_BITS = 10, HOST_ONLY_BIT = 31 };
    host->zones_without_message++;
    report_op_info *info = sb_arena_alloc_zeroed(&host->arena, sizeof *info);
    info->is_cut = true;
    info->has_device = (id >> HOST_ONLY_BIT & 1) == 0;
    info->device = (int64_t)(id & ((1U << DEVICE_BITS) - 1));
    info->cell_count = info->has_device ? 2 : 1;
    info->cells = sb_arena_alloc(&host->arena, 2 * sizeof(report_cell));
    info->cells[0] = (report_cell){REPORT_COLUMN_OP_TYPE, report_keep_cell(host, zone_name)};
    char number[SB_NUMBER_SIZE];
    const sb_slice device = {number, sb_format_int64(info->device, number)};
    info->cells[1] = (report_cell){REPORT_COLUMN_DEVICE, report_keep_cell(host, device)};
    report_op *op = sb_vector_push(&host->ops);
    const uint32_t index = (uint32_t)host->ops.count;
    op->id = id;
    op->info = info;
    op->trace = REPORT_NO_TRACE;
    const uint32_t by_id = sb_intern_add(&host->op_ids, (sb_slice){(const char *)&id, sizeof id});
    *(uint32_t *)sb_vector_at(&host->first_of_id, by_id) = index;
    return index;
}

static void take_op_zone(report_host *host, sb_slice name, sb_slice text, int64_t start,
                         int64_t duration) {
    uint64_t id = 0;
    if (!parse_id(text, &id)) {
        host->bad_zones++;
        return;
    }
    uint32_t at = first_op(host, id);
    if (at == 0)
        at = add_silent_op(host, id, name);
    for (; at != 0; at = report_op_at(host, at - 1)->next_of_id) {
        report_op *op = report_op_at(host, at - 1);
        op->has_zone = true;
        op->start = start;
        op->duration = duration;
    }
}

static void add_child(report_host *host, uint32_t op_index, sb_slice name, int64_t duration) {
    const uint32_t name_index = sb_intern_add(&host->child_names, name);
    report_op *op = report_op_at(host, op_index);
    for (uint32_t at = op->children; at != 0;) {
        report_child *child = sb_vector_at(&host->children, at - 1);
        if (child->name == name_index) {
            child->total += duration;
            return;
        }
        at = child->next;
    }
    report_child *child = sb_vector_push(&host->children);
    *child = (report_child){name_index, op->children, duration};
    op->children = (uint32_t)host->children.count;
}

/* A zone inside that of an op; those of unknown ops are nobody's. */
static void take_child_zone(report_host *host, sb_slice name, sb_slice parent, int64_t duration) {
    uint64_t id = 0;
    if (!parse_id(parent, &id))
        return;
    for (uint32_t at = first_op(host, id); at != 0; at = report_op_at(host, at - 1)->next_of_id)
        add_child(host, at - 1, name, duration);
}

/* Zones of ops first, those of their calls in a second round: a parent may stand behind a child. */
static void take_zones(report_host *host, sb_slice text, bool children) {
    sb_csv csv;
    zone_columns columns = {0};
    sb_csv_begin(&csv, text);
    bool is_readable = sb_csv_next(&csv) && take_titles(&csv, &columns);
    while (is_readable && sb_csv_next(&csv)) {
        int64_t start = 0;
        int64_t duration = 0;
        const bool is_whole = csv.field_count >= columns.count;
        const sb_slice name = csv.fields[columns.name < csv.field_count ? columns.name : 0];
        const bool is_op = sb_slice_contains(name, "TT_DNN") || sb_slice_contains(name, "TT_METAL");
        const bool has_times = is_whole && sb_parse_int64(csv.fields[columns.start], &start) &&
                               sb_parse_int64(csv.fields[columns.duration], &duration);
        if (is_op && !children && has_times)
            take_op_zone(host, name, csv.fields[columns.text], start, duration);
        else if (is_op && !children)
            host->bad_zones++;
        if (!children || columns.parent == 0 || !has_times)
            continue;
        const sb_slice parent = csv.fields[csv.field_count - columns.parent];
        if (sb_slice_contains(parent, "id:"))
            take_child_zone(host, name, parent, duration);
    }
    sb_csv_end(&csv);
    if (!is_readable && !children && text.size > 0)
        host->bad_zones++;
}

void report_read_zones(report_host *host, sb_slice text) {
    take_zones(host, text, false);
    take_zones(host, text, true);
}
