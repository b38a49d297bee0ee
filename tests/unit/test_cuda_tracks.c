/*
 * Where zones of GPUs go: their names, the contexts of the recording, observers. On a GPU made of
 * threads (cuda_stand_in.h).
 */
#include <stdlib.h>
#include <unistd.h>

#include <strobe/cuda_gpu.h>
#include <strobe/strobe.h>

#include "cuda_context_testing.h"
#include "testing.h"

/* ---- names ---- */

/* Of modules that are loaded again, at the same place or another. */
static void places_of_the_same_content_are_one(void **state) {
    (void)state;
    enum { UNLOADS = 200, ADDRESSES = 8 };
    static const char name[] = "again";
    const sb_cuda_place place = {.name = name, .name_size = sizeof name - 1, .line = 3};
    const sb_cuda_place another = {.name = name, .name_size = sizeof name - 1, .line = 4};
    const sb_cuda_place *constants[ADDRESSES];
    cuda_places places = {0};
    const sb_source_location *first = NULL;
    for (int i = 0; i < UNLOADS; i++) {
        const sb_cuda_place **at = &constants[i % ADDRESSES];
        *at = &place;
        const sb_source_location *found =
            cuda_places_find(&places, stand_in_driver(), NULL, (uintptr_t)at);
        assert_string_equal(found->name, name);
        assert_true(first == NULL || first == found);
        first = found;
        assert_ptr_equal(cuda_places_find(&places, stand_in_driver(), NULL, (uintptr_t)at), found);
        cuda_places_forget(&places);
        *at = &another;
        assert_int_equal(cuda_places_find(&places, stand_in_driver(), NULL, (uintptr_t)at)->line,
                         4);
        cuda_places_forget(&places);
    }
    assert_int_equal(places.count, 0);
    cuda_places_free(&places);
}

/* ---- several contexts ---- */

/* A zone in another on each SM, in the context that was opened last. */
static void tell_zones(cuda_context *context) {
    for (uint32_t sm = 0; sm < STAND_IN_SMS; sm++) {
        stand_in = (stand_in_warp){.sm = sm, .launch = 1, .block = sm};
        const unsigned around = stand_in_begin(SB_CUDA_MAIN, outer);
        stand_in_end(stand_in_begin(SB_CUDA_ZONE, inner));
        stand_in_end_main(around);
    }
    drain(context, CUDA_LOOK_ENDED);
    assert_int_equal(context->counts.zones, 2 * STAND_IN_SMS);
}

/* More contexts live at a time than readers know SMs of. */
static void zones_that_the_recording_has_no_room_for_are_counted(void **state) {
    (void)state;
    enum { CONTEXTS = 70 };
    cuda_context *contexts[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) {
        contexts[i] = open_context(16, false);
        tell_zones(contexts[i]);
    }
    assert_int_equal(contexts[0]->counts.unplaced, 0);
    assert_int_equal(contexts[CONTEXTS / 2]->counts.unplaced, 0);
    assert_int_equal(contexts[CONTEXTS - 1]->counts.unplaced, 2 * STAND_IN_SMS);
    for (int i = 0; i < CONTEXTS; i++)
        close_context(contexts[i]);
    /* Those that follow go on where they were. */
    cuda_context *next = open_context(16, false);
    tell_zones(next);
    assert_int_equal(next->counts.unplaced, 0);
    close_context(next);
}

enum { LANES_SEEN = 1024 };

typedef struct seen_lanes {
    int depth[LANES_SEEN]; /* of the first SM */
    int most;
} seen_lanes;

static void see_lane(void *of, const sb_cuda_moment *moment) {
    seen_lanes *seen = of;
    assert_true(moment->lane < LANES_SEEN);
    if (moment->sm != 0)
        return;
    if (moment->kind == SB_CUDA_MOMENT_BEGIN)
        seen->depth[moment->lane]++;
    else if (moment->kind == SB_CUDA_MOMENT_END)
        seen->depth[moment->lane]--;
    if (seen->depth[moment->lane] > seen->most)
        seen->most = seen->depth[moment->lane];
}

/* A zone of one is open while those of the other come and go. */
static void observers_tell_contexts_of_a_gpu_apart(void **state) {
    (void)state;
    seen_lanes seen = {0};
    sb_cuda_observe(&(sb_cuda_observer){.see = see_lane, .context = &seen});
    cuda_context *first = open_context(16, false);
    stand_in = (stand_in_warp){.launch = 1};
    (void)stand_in_begin(SB_CUDA_ZONE, outer);
    while (first->counts.zones == 0)
        drain(first, CUDA_LOOK_RUNNING);
    assert_int_equal(seen.most, 1);
    stand_in_clear_shared();
    cuda_context *second = open_context(16, false);
    tell_zones(second);
    assert_int_equal(seen.most, 2);
    assert_int_equal(seen.depth[0], 1);
    sb_cuda_observe(NULL);
    close_context(second);
    close_context(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_that_the_recording_has_no_room_for_are_counted),
        cmocka_unit_test(observers_tell_contexts_of_a_gpu_apart),
        cmocka_unit_test(places_of_the_same_content_are_one),
    };
    char path[] = "/tmp/strobe-cuda-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || sb_client_record_to_file(path) != 0)
        return 1;
    const int failed = RUN(tests);
    sb_client_stop();
    close(file);
    unlink(path);
    return failed;
}
