/*
 * The order of the records, and the part of them that signposts cut out.
 */
#include "perf/perf_model.h"

#include <stdlib.h>

/* ---- order ---- */

static int compare_start(const void *a, const void *b) {
    const perf_record *first = *(perf_record *const *)a;
    const perf_record *second = *(perf_record *const *)b;
    if (first->host_start != second->host_start)
        return first->host_start < second->host_start ? -1 : 1;
    return (first->id > second->id) - (first->id < second->id);
}

static bool is_sorted(const sb_perf_store *store) {
    for (size_t i = 1; i < store->order_count; i++) {
        if (store->order[i]->host_start < store->order[i - 1]->host_start)
            return false;
    }
    return true;
}

static void sort_by_time(sb_perf_store *store) {
    if (store->options.tracing_mode) {
        perf_note(store, true, "Rows are kept in the order of the file (tracing mode)");
        return;
    }
    if (!store->has_host_start) {
        perf_note(store, true, "Rows are not sorted: there is no column HOST START TS");
        return;
    }
    perf_note(store, false, "Rows are sorted by HOST START TS");
    if (!is_sorted(store))
        qsort(store->order, store->order_count, sizeof(perf_record *), compare_start);
}

/* ---- signposts ---- */

static bool is_signpost(const perf_record *record) {
    return record->type == PERF_SIGNPOST_MARK;
}

static bool is_given(const char *name) {
    return name != NULL && name[0] != '\0';
}

/*
 * A window is cut out of the records of each host. Compat mode knows no hosts and compares IDs, as
 * the original does. Plain mode compares places in the order of time, and each host by its own
 * signposts, since the clocks of two hosts have nothing to do with each other; a host that lacks
 * the signpost goes by the first one that any host has.
 */
typedef struct key_range {
    int64_t after;  /* keys above this one */
    int64_t before; /* and below this one */
} key_range;

typedef struct window_cut {
    sb_perf_store *store;
    key_range *of_host;
    size_t host_count;
    bool by_place; /* keys are places in the current order, not IDs */
} window_cut;

static int64_t key_of(const window_cut *cut, size_t place) {
    return cut->by_place ? (int64_t)place : cut->store->order[place]->id;
}

static size_t host_of(const window_cut *cut, const perf_record *record) {
    return cut->store->options.compat ? 0 : record->host;
}

static window_cut begin_cut(sb_perf_store *store) {
    window_cut cut = {.store = store,
                      .host_count = store->options.compat ? 1 : store->report.host_count,
                      .by_place = !store->options.compat};
    cut.of_host = sb_alloc_zeroed(cut.host_count, sizeof *cut.of_host);
    for (size_t i = 0; i < cut.host_count; i++)
        cut.of_host[i] = (key_range){INT64_MIN, INT64_MAX};
    return cut;
}

static void end_cut(window_cut *cut) {
    sb_perf_store *store = cut->store;
    size_t kept = 0;
    for (size_t i = 0; i < store->order_count; i++) {
        perf_record *record = store->order[i];
        const key_range range = cut->of_host[host_of(cut, record)];
        const int64_t key = key_of(cut, i);
        if (key > range.after && key < range.before &&
            (store->options.print_signposts || !is_signpost(record)))
            store->order[kept++] = record;
    }
    store->order_count = kept;
    free(cut->of_host);
}

typedef bool (*record_test)(const perf_record *record, sb_slice name);

static bool is_signpost_named(const perf_record *record, sb_slice name) {
    return is_signpost(record) && sb_slice_equal(record->op->code, name);
}

static bool is_named(const perf_record *record, sb_slice name) {
    return sb_slice_equal(record->op->code, name);
}

/*
 * Finds, for each host, the record of that name that comes after skip others of it. keys[i] is its
 * key, or INT64_MIN if host i has none. Returns how many records of the name the first host that
 * has any has.
 */
static size_t find_marks(const window_cut *cut, sb_slice name, record_test test, size_t skip,
                         int64_t *keys) {
    size_t *found = sb_alloc_zeroed(cut->host_count, sizeof *found);
    for (size_t i = 0; i < cut->host_count; i++)
        keys[i] = INT64_MIN;
    for (size_t place = 0; place < cut->store->order_count; place++) {
        const perf_record *record = cut->store->order[place];
        const size_t host = host_of(cut, record);
        if (!test(record, name))
            continue;
        if (found[host]++ == skip)
            keys[host] = key_of(cut, place);
    }
    size_t count = 0;
    for (size_t i = 0; i < cut->host_count && count == 0; i++)
        count = found[i];
    free(found);
    return count;
}

/* The earliest mark of any host stands in for those that have none; false if there is none. */
static bool fill_marks(const window_cut *cut, int64_t *keys) {
    int64_t first = INT64_MIN;
    for (size_t i = 0; i < cut->host_count; i++) {
        if (keys[i] != INT64_MIN && (first == INT64_MIN || keys[i] < first))
            first = keys[i];
    }
    for (size_t i = 0; i < cut->host_count; i++) {
        if (keys[i] == INT64_MIN)
            keys[i] = first;
    }
    return first != INT64_MIN;
}

static bool cut_start(window_cut *cut, const char *name) {
    int64_t *keys = sb_alloc_zeroed(cut->host_count, sizeof *keys);
    find_marks(cut, sb_slice_of(name), is_signpost_named, 0, keys);
    const bool found = fill_marks(cut, keys);
    for (size_t i = 0; i < cut->host_count && found; i++)
        cut->of_host[i].after = keys[i];
    if (found)
        perf_note(cut->store, false, "Rows after start signpost '%s'", name);
    else
        perf_note(cut->store, true, "There is no start signpost '%s'", name);
    free(keys);
    return found;
}

static bool cut_end(window_cut *cut, const char *name, bool is_also_start) {
    int64_t *keys = sb_alloc_zeroed(cut->host_count, sizeof *keys);
    const size_t count =
        find_marks(cut, sb_slice_of(name), is_signpost_named, is_also_start ? 1 : 0, keys);
    const bool found = fill_marks(cut, keys);
    for (size_t i = 0; i < cut->host_count && found; i++)
        cut->of_host[i].before = keys[i];
    if (found && is_also_start && count > 2)
        perf_note(cut->store, true,
                  "Signpost '%s' occurs %zu times: the second one ends the window", name, count);
    if (found)
        perf_note(cut->store, false, "Rows before end signpost '%s'", name);
    else if (is_also_start && count == 1)
        perf_note(cut->store, true, "Signpost '%s' occurs only once: the end is not cut", name);
    else
        perf_note(cut->store, true, "There is no end signpost '%s'", name);
    free(keys);
    return found;
}

static void list_signposts(sb_perf_store *store) {
    sb_output names = sb_output_to_memory();
    size_t listed = 0;
    size_t count = 0;
    enum { LISTED = 30 };
    for (size_t i = 0; i < store->order_count; i++) {
        if (!is_signpost(store->order[i]))
            continue;
        count++;
        if (listed == LISTED)
            continue;
        sb_put_text(&names, listed++ > 0 ? ", " : "");
        sb_put(&names, store->order[i]->op->code);
    }
    const sb_slice list = sb_output_text(&names);
    perf_note(store, false, "%zu signposts: %.*s%s", count, (int)list.size, list.data,
              count > listed ? ", ..." : "");
    sb_output_discard(&names);
}

static bool has_device_op_in(const window_cut *cut) {
    const sb_perf_store *store = cut->store;
    for (size_t i = 0; i < store->order_count; i++) {
        const key_range range = cut->of_host[host_of(cut, store->order[i])];
        if (store->order[i]->type == PERF_DEVICE_OP && key_of(cut, i) > range.after)
            return true;
    }
    return false;
}

/*
 * Without usable names: what follows the first record that is called like the last signpost. Here
 * the original goes by the order of time, not by IDs, and takes any record of that name.
 */
static void cut_last_section(window_cut *cut, const perf_record *last) {
    sb_perf_store *store = cut->store;
    const sb_slice name = last->op->code;
    int64_t *keys = sb_alloc_zeroed(cut->host_count, sizeof *keys);
    list_signposts(store);
    cut->by_place = true;
    find_marks(cut, name, store->options.compat ? is_named : is_signpost_named, 0, keys);
    fill_marks(cut, keys);
    for (size_t i = 0; i < cut->host_count; i++)
        cut->of_host[i].after = keys[i];
    free(keys);
    if (store->options.compat || has_device_op_in(cut)) {
        perf_note(store, false, "Rows after signpost '%.*s' (--ignore-signposts for all of them)",
                  (int)name.size, name.data);
        return;
    }
    perf_note(store, true,
              "No device op follows the last signpost '%.*s': the whole file is analysed",
              (int)name.size, name.data);
    for (size_t i = 0; i < cut->host_count; i++)
        cut->of_host[i].after = INT64_MIN;
}

static const perf_record *find_last_signpost(const sb_perf_store *store) {
    const perf_record *last = NULL;
    for (size_t i = 0; i < store->order_count; i++) {
        if (is_signpost(store->order[i]))
            last = store->order[i];
    }
    return last;
}

static void note_no_signposts(sb_perf_store *store) {
    const sb_perf_options *options = &store->options;
    perf_note(store, false, "No signposts: the whole file is analysed");
    if (is_given(options->start_signpost) && !options->compat)
        perf_note(store, true, "There is no start signpost '%s'", options->start_signpost);
    if (is_given(options->end_signpost) && !options->compat)
        perf_note(store, true, "There is no end signpost '%s'", options->end_signpost);
}

static void cut_window(sb_perf_store *store) {
    const sb_perf_options *options = &store->options;
    const perf_record *last = find_last_signpost(store);
    if (options->ignore_signposts) {
        perf_note(store, false, "Signposts are ignored: the whole file is analysed");
        return;
    }
    if (last == NULL) {
        note_no_signposts(store);
        return;
    }
    const bool has_start = is_given(options->start_signpost);
    const bool is_same = has_start && is_given(options->end_signpost) &&
                         sb_slice_is(sb_slice_of(options->start_signpost), options->end_signpost);
    window_cut cut = begin_cut(store);
    bool is_cut = has_start && cut_start(&cut, options->start_signpost);
    if (is_given(options->end_signpost))
        is_cut = cut_end(&cut, options->end_signpost, is_same) || is_cut;
    if (!is_cut)
        cut_last_section(&cut, last);
    end_cut(&cut);
}

void perf_sort_and_cut(sb_perf_store *store) {
    store->order_count = store->records.count;
    store->order = sb_alloc_zeroed(store->order_count, sizeof(perf_record *));
    for (size_t i = 0; i < store->order_count; i++)
        store->order[i] = sb_vector_at(&store->records, i);
    sort_by_time(store);
    cut_window(store);
}
