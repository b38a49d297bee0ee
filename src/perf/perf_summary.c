/*
 * Rows -> groups of the same kind of operation, largest first.
 */
#include "perf/perf_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- categories ---- */

/* A name also counts with "DeviceOperation" behind it. */
static const char *const compute_ops[] = {
    "AllGatherMatmul",
    "ScaledDotProductAttentionDecode",
    "RotaryEmbeddingLlama",
    "SDPAOperation",
    "OptimizedConvNew",
    "Conv2d",
    "Matmul",
    "BinaryNg",
    "Binary",
    "Unary",
    "Pool2D",
    "UpSample",
    "UpsampleOperation",
    "GroupNorm",
    "GridSample",
    "Accumulation",
    "LayerNorm",
    "ScaledDotProductAttention",
    "Reduce",
    "Softmax",
    "Embeddings",
    "MinimalMatmulOp",
    "IntImg",
    "GridSampleOperation",
    NULL,
};
static const char *const data_movement_ops[] = {
    "PagedUpdateCacheDeviceOperation",
    "Move",
    "Copy",
    "InterleavedToSharded",
    "ShardedToInterleaved",
    "InterleavedToShardedPartial",
    "ShardedToInterleavedPartial",
    "Halo",
    "Where",
    "CloneOperation",
    "Reshard",
    "PaddedSlice",
    "SliceWrite",
    "ReduceScatter",
    NULL,
};
static const char *const tensor_manipulation_ops[] = {
    "NLPCreateHeadsDecodeDeviceOperation",
    "NLPConcatHeadsDecodeDeviceOperation",
    "Fold",
    "CreateQKVHeadsDeviceOperation",
    "ConcatenateHeads",
    "Reshape",
    "Transpose",
    "Permute",
    "Slice",
    "Concat",
    "Split",
    "TilizeWithValPadding",
    "Tilize",
    "UntilizeWithUnpadding",
    "Untilize",
    "Typecast",
    "NLPConcatHeads",
    "NlpCreateHeads",
    "Ternary",
    "FillPad",
    "PadDeviceOperation",
    NULL,
};
static const char *const host_ops[] = {"(torch)", NULL};

static const struct {
    const char *name;
    const char *const *ops;
} categories[] = {
    {"Compute", compute_ops},
    {"DM", data_movement_ops},
    {"TM", tensor_manipulation_ops},
    {"Host", host_ops},
};

static bool is_listed(sb_slice word, const char *const *ops) {
    for (; *ops != NULL; ops++) {
        if (sb_slice_is(word, *ops))
            return true;
    }
    return false;
}

/* By the first word of an op code. */
static const char *find_category(sb_slice op_word) {
    static const char suffix[] = "DeviceOperation";
    sb_slice stem = op_word;
    if (sb_slice_ends_with(op_word, suffix))
        stem = sb_slice_first(op_word, op_word.size - (sizeof suffix - 1));
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        if (is_listed(op_word, categories[i].ops) || is_listed(stem, categories[i].ops))
            return categories[i].name;
    }
    return "Other";
}

/* ---- groups ---- */

/* Sums as the pandas library makes them (Kahan, row by row), since their last digit shows. */
typedef struct kahan_sum {
    double sum;
    double lost;
} kahan_sum;

static void kahan_add(kahan_sum *sum, double value) {
    const double corrected = value - sum->lost;
    const double total = sum->sum + corrected;
    sum->lost = (total - sum->sum) - corrected;
    sum->sum = total;
}

typedef struct group_state {
    sb_slice key;
    double device; /* NaN: rows without one, or all devices together */
    const char *category;
    size_t rows;
    kahan_sum time;
    bool time_is_whole;
    kahan_sum flops;
    size_t flops_count;
    double flops_min;
    double flops_max;
    double running_mean; /* Welford */
    double squares;
    perf_sum weighted;
    perf_sum weights;
} group_state;

typedef struct summary_maker {
    sb_perf_store *store;
    bool by_device;
    sb_vector states;      /* group_state */
    sb_intern keys;        /* key, or key and device: the place in states */
    sb_intern words;       /* names of ops */
    sb_vector categories;  /* const char *, by place in words */
    sb_intern devices;     /* devices that have groups */
    sb_vector device_time; /* kahan_sum, by place in devices */
    sb_output text;        /* where keys are put together */
} summary_maker;

static void warn_of_category(sb_perf_store *store, sb_slice word) {
    sb_perf_note *note = sb_vector_push(&store->summary_notes);
    note->is_warning = true;
    note->text = sb_arena_format(&store->arena, "No category is known for %.*s: counted as Other",
                                 (int)word.size, word.data);
}

/* The category of an op, looked up once for each name. */
static const char *category_of(summary_maker *summary, sb_slice word) {
    const uint32_t index = sb_intern_add(&summary->words, word);
    if (index == summary->categories.count) {
        const char *category = find_category(word);
        *(const char **)sb_vector_push(&summary->categories) = category;
        if (strcmp(category, "Other") == 0)
            warn_of_category(summary->store, sb_intern_text(&summary->words, index));
    }
    return *(const char **)sb_vector_at(&summary->categories, index);
}

/* "DEV_1_DRAM_INTERLEAVED" -> "DRAM_INTERLEAVED"; no data if the text has no such parts. */
static sb_slice memory_suffix(sb_slice memory) {
    size_t last = SB_NOT_FOUND;
    size_t before_last = SB_NOT_FOUND;
    for (size_t i = 0; i < memory.size; i++) {
        if (memory.data[i] != '_')
            continue;
        before_last = last;
        last = i;
    }
    if (last == SB_NOT_FOUND)
        return (sb_slice){NULL, 0};
    return before_last == SB_NOT_FOUND ? memory : sb_slice_after(memory, before_last + 1);
}

static void put_lower(sb_output *output, sb_slice text) {
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        sb_put_char(output, (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c));
    }
}

/* False if the row belongs to no group (a quirk of the original that plain mode does not share). */
static bool put_key(summary_maker *summary, const sb_perf_row *row, sb_slice word,
                    const char *category) {
    const sb_perf_options *options = &summary->store->options;
    sb_output *text = &summary->text;
    sb_output_truncate(text, 0);
    sb_put(text, options->grouping == SB_PERF_BY_CATEGORY ? sb_slice_of(category) : word);
    if (options->grouping != SB_PERF_BY_MEMORY || row->input_0_memory.data == NULL)
        return true;
    const sb_slice suffix = memory_suffix(row->input_0_memory);
    if (suffix.data == NULL)
        return !options->compat;
    sb_put_text(text, " (in0:");
    put_lower(text, suffix);
    sb_put_char(text, ')');
    return true;
}

/* The group whose key is in the text buffer. */
static group_state *find_group(summary_maker *summary, const sb_perf_row *row,
                               const char *category) {
    const size_t key_size = sb_output_text(&summary->text).size;
    const double device = summary->by_device && sb_perf_has(row->device) ? row->device.value : NAN;
    if (summary->by_device)
        sb_put_format(&summary->text, "\x01%.0f", device);
    const uint32_t index = sb_intern_add(&summary->keys, sb_output_text(&summary->text));
    if (index == summary->states.count)
        *(group_state *)sb_vector_push(&summary->states) = (group_state){
            .key = sb_slice_first(sb_intern_text(&summary->keys, index), key_size),
            .device = device,
            .category = category,
            .time_is_whole = true,
        };
    return sb_vector_at(&summary->states, index);
}

static void add_flops(group_state *group, double percent, double time) {
    group->flops_count++;
    if (group->flops_count == 1 || percent < group->flops_min)
        group->flops_min = percent;
    if (group->flops_count == 1 || percent > group->flops_max)
        group->flops_max = percent;
    kahan_add(&group->flops, percent);
    const double distance = percent - group->running_mean;
    group->running_mean += distance / (double)group->flops_count;
    group->squares += (percent - group->running_mean) * distance;
    perf_sum_add(&group->weighted, percent * time);
    perf_sum_add(&group->weights, time);
}

static void add_row(summary_maker *summary, const sb_perf_row *row) {
    const sb_perf_options *options = &summary->store->options;
    if (row->counts_as_signpost || (options->no_host_ops && row->is_host_op))
        return;
    sb_slice rest;
    const sb_slice word = sb_slice_first_word(row->op_code, &rest);
    const char *category = category_of(summary, word);
    if (summary->by_device && options->compat && !sb_perf_has(row->device))
        return;
    if (!put_key(summary, row, word, category))
        return;
    group_state *group = find_group(summary, row, category);
    const double time = sb_perf_or_zero(row->device_time);
    group->rows++;
    group->time_is_whole = group->time_is_whole && row->device_time.kind != SB_PERF_REAL;
    kahan_add(&group->time, time);
    if (sb_perf_has(row->flops_percent))
        add_flops(group, row->flops_percent.value, time);
}

/* ---- from states to groups ---- */

/* Rows without a device (NaN) come last. */
static int compare_device(double first, double second) {
    if (isnan(first) || isnan(second))
        return (isnan(first) ? 1 : 0) - (isnan(second) ? 1 : 0);
    return (first > second) - (first < second);
}

static int compare_key(const void *a, const void *b) {
    const group_state *first = a;
    const group_state *second = b;
    const int order = sb_slice_compare(first->key, second->key);
    if (order != 0)
        return order;
    return compare_device(first->device, second->device);
}

static int compare_time(const void *a, const void *b) {
    const sb_perf_group *first = a;
    const sb_perf_group *second = b;
    if (first->device_time != second->device_time)
        return first->device_time > second->device_time ? -1 : 1;
    const int order = sb_slice_compare(first->key, second->key);
    if (order != 0)
        return order;
    return compare_device(sb_perf_has(first->device) ? first->device.value : NAN,
                          sb_perf_has(second->device) ? second->device.value : NAN);
}

/* The time of all groups, or of those of one device: what a group's share is measured against. */
static kahan_sum *total_for(summary_maker *summary, const group_state *group) {
    char name[SB_NUMBER_SIZE];
    const size_t size = sb_format_shortest(group->device, name);
    const uint32_t index = sb_intern_add(&summary->devices, (sb_slice){name, size});
    if (index == summary->device_time.count)
        sb_vector_push(&summary->device_time);
    return sb_vector_at(&summary->device_time, index);
}

static void add_totals(summary_maker *summary) {
    for (size_t i = 0; i < summary->states.count; i++) {
        const group_state *group = sb_vector_at(&summary->states, i);
        kahan_add(total_for(summary, group), group->time.sum);
    }
}

/* The groups of one key, which stand side by side, from *first up to but not including *last. */
static void find_same_key(const summary_maker *summary, size_t place, size_t *first, size_t *last) {
    const group_state *group = sb_vector_at(&summary->states, place);
    *first = place;
    *last = place + 1;
    while (*first > 0 &&
           sb_slice_equal(((group_state *)sb_vector_at(&summary->states, *first - 1))->key,
                          group->key))
        (*first)--;
    while (*last < summary->states.count &&
           sb_slice_equal(((group_state *)sb_vector_at(&summary->states, *last))->key, group->key))
        (*last)++;
}

/* The original takes the weighted mean over all devices, also where it shows them apart. */
static sb_perf_number weighted_mean(const summary_maker *summary, size_t place) {
    size_t first = place;
    size_t last = place + 1;
    if (summary->by_device && summary->store->options.compat)
        find_same_key(summary, place, &first, &last);
    perf_sum weighted = {0};
    perf_sum weights = {0};
    for (size_t i = first; i < last; i++) {
        const group_state *group = sb_vector_at(&summary->states, i);
        perf_sum_add(&weighted, perf_sum_value(&group->weighted));
        perf_sum_add(&weights, perf_sum_value(&group->weights));
    }
    const double weight = perf_sum_value(&weights);
    if (weight == 0)
        return (sb_perf_number){0, SB_PERF_ABSENT};
    return (sb_perf_number){perf_sum_value(&weighted) / weight, SB_PERF_REAL};
}

static void set_flops(const summary_maker *summary, size_t place, sb_perf_group *group) {
    const group_state *state = sb_vector_at(&summary->states, place);
    group->flops_weighted = weighted_mean(summary, place);
    if (state->flops_count == 0)
        return;
    group->flops_min = (sb_perf_number){state->flops_min, SB_PERF_REAL};
    group->flops_max = (sb_perf_number){state->flops_max, SB_PERF_REAL};
    group->flops_mean =
        (sb_perf_number){state->flops.sum / (double)state->flops_count, SB_PERF_REAL};
    if (state->flops_count > 1)
        group->flops_deviation =
            (sb_perf_number){sqrt(state->squares / (double)(state->flops_count - 1)), SB_PERF_REAL};
}

static void publish_groups(summary_maker *summary) {
    sb_perf_store *store = summary->store;
    for (size_t i = 0; i < summary->states.count; i++) {
        const group_state *state = sb_vector_at(&summary->states, i);
        const double total = total_for(summary, state)->sum;
        sb_perf_group *group = sb_vector_push(&store->groups);
        group->key = sb_arena_copy(&store->arena, state->key);
        group->category = state->category;
        group->op_count = state->rows;
        group->device_time = state->time.sum;
        group->time_is_whole = state->time_is_whole;
        group->total_percent = total != 0 ? state->time.sum / total * 100 : 0;
        if (!isnan(state->device))
            group->device = (sb_perf_number){state->device, SB_PERF_INTEGER};
        if (store->options.grouping != SB_PERF_BY_CATEGORY)
            set_flops(summary, i, group);
    }
    if (store->groups.count > 0)
        qsort(store->groups.data, store->groups.count, sizeof(sb_perf_group), compare_time);
    store->report.groups_have_flops = store->options.grouping != SB_PERF_BY_CATEGORY;
}

void perf_summarise(sb_perf_store *store) {
    summary_maker summary = {.store = store,
                             .by_device = store->options.no_merge_devices,
                             .states = sb_vector_of(sizeof(group_state)),
                             .categories = sb_vector_of(sizeof(const char *)),
                             .device_time = sb_vector_of(sizeof(kahan_sum)),
                             .text = sb_output_to_memory()};
    sb_intern_init(&summary.keys);
    sb_intern_init(&summary.words);
    sb_intern_init(&summary.devices);
    for (size_t i = 0; i < store->rows.count; i++)
        add_row(&summary, sb_vector_at(&store->rows, i));
    if (summary.states.count > 0)
        qsort(summary.states.data, summary.states.count, sizeof(group_state), compare_key);
    add_totals(&summary);
    publish_groups(&summary);
    sb_vector_free(&summary.states);
    sb_vector_free(&summary.categories);
    sb_vector_free(&summary.device_time);
    sb_output_discard(&summary.text);
    sb_intern_free(&summary.keys);
    sb_intern_free(&summary.words);
    sb_intern_free(&summary.devices);
}
