/*
 * The GPU that is made of software (tests/cuda/ptx): instructions do what PTX says, what is not
 * known is refused, and what kernels may not do ends their launch.
 */
#include "testing.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

typedef unsigned long long address;

/* The driver, as any program finds it. */
static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*load)(void **module, const char *text);
    int (*unload)(void *module);
    int (*function)(void **function, void *module, const char *name);
    int (*global)(address *at, size_t *size, void *module, const char *name);
    int (*allocate)(address *at, size_t size);
    int (*release)(address at);
    int (*to_gpu)(address to, const void *from, size_t size, void *stream);
    int (*to_host)(void *to, address from, size_t size, void *stream);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
    int (*wait)(void);
} gpu;

static void find(const char *name, void *function) {
    void *library = dlopen(PTX_DRIVER, RTLD_NOW);
    assert_non_null(library);
    void *found = dlsym(library, name);
    assert_non_null(found);
    memcpy(function, &found, sizeof found);
}

static int set_up(void **state) {
    (void)state;
    void *context;
    find("cuInit", &gpu.init);
    find("cuDevicePrimaryCtxRetain", &gpu.retain);
    find("cuCtxSetCurrent", &gpu.set_current);
    find("cuModuleLoadData", &gpu.load);
    find("cuModuleUnload", &gpu.unload);
    find("cuModuleGetFunction", &gpu.function);
    find("cuModuleGetGlobal_v2", &gpu.global);
    find("cuMemAlloc_v2", &gpu.allocate);
    find("cuMemFree_v2", &gpu.release);
    find("cuMemcpyHtoDAsync_v2", &gpu.to_gpu);
    find("cuMemcpyDtoHAsync_v2", &gpu.to_host);
    find("cuLaunchKernel", &gpu.launch);
    find("cuCtxSynchronize", &gpu.wait);
    return gpu.init(0) + gpu.retain(&context, 0) + gpu.set_current(context);
}

#define HEAD ".version 9.0\n.target sm_121\n.address_size 64\n"

/* ---- one instruction ---- */

/*
 * Runs an instruction on a, b and c in each lane of a warp: `type` is that of registers, 32 or 64
 * bits. Results are of 64 bits.
 */
static void calculate(const char *instruction, const uint64_t given[3], uint64_t result[32]) {
    char text[2048];
    snprintf(text, sizeof text,
             HEAD ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
                  ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<8>; .reg .b64 %%d<8>;\n"
                  "ld.param.u64 %%d6, [in]; ld.param.u64 %%d7, [out];\n"
                  "ld.global.u64 %%d1, [%%d6]; ld.global.u64 %%d2, [%%d6+8];\n"
                  "ld.global.u64 %%d3, [%%d6+16];\n"
                  "cvt.u32.u64 %%r1, %%d1; cvt.u32.u64 %%r2, %%d2; cvt.u32.u64 %%r3, %%d3;\n"
                  "mov.u32 %%r4, %%laneid; mov.u64 %%d0, 0; mov.u32 %%r0, 0;\n"
                  "setp.ne.s32 %%p1, %%r1, 0; setp.ne.s32 %%p2, %%r2, 0;\n"
                  "%s\n"
                  "mul.wide.u32 %%d5, %%r4, 8; add.s64 %%d7, %%d7, %%d5;\n"
                  "cvt.u64.u32 %%d4, %%r0; or.b64 %%d4, %%d4, %%d0; st.global.u64 [%%d7], %%d4;\n"
                  "ret; }\n",
             instruction);
    void *module;
    void *function;
    address in;
    address out;
    assert_int_equal(gpu.load(&module, text), 0);
    assert_int_equal(gpu.function(&function, module, "k"), 0);
    assert_int_equal(gpu.allocate(&in, 24) + gpu.allocate(&out, 32 * sizeof *result), 0);
    assert_int_equal(gpu.to_gpu(in, given, 24, NULL), 0);
    assert_int_equal(gpu.launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&in, &out}, NULL),
                     0);
    assert_int_equal(gpu.to_host(result, out, 32 * sizeof *result, NULL), 0);
    assert_int_equal(gpu.release(in) + gpu.release(out) + gpu.unload(module), 0);
}

typedef struct expected_result {
    const char *instruction;
    uint64_t given[3];
    uint64_t result;
} expected_result;

static uint64_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void expect_all(const expected_result *wanted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t result[32];
        calculate(wanted[i].instruction, wanted[i].given, result);
        for (int lane = 0; lane < 32; lane++)
            if (result[lane] != wanted[i].result)
                fail_msg("%s: lane %d has 0x%llx, not 0x%llx", wanted[i].instruction, lane,
                         (unsigned long long)result[lane], (unsigned long long)wanted[i].result);
    }
}

static void integers_are_calculated(void **state) {
    (void)state;
    const uint64_t minus = UINT64_MAX;
    const expected_result wanted[] = {
        {"add.s32 %r0, %r1, %r2;", {0xFFFFFFFF, 2}, 1},
        {"sub.s64 %d0, %d1, %d2;", {1, 2}, minus},
        {"mul.lo.s32 %r0, %r1, -3;", {5}, 0xFFFFFFF1},
        {"mul.hi.u32 %r0, %r1, %r2;", {0xFFFFFFFF, 0xFFFFFFFF}, 0xFFFFFFFE},
        {"mul.hi.s32 %r0, %r1, %r2;", {0xFFFFFFFF, 2}, 0xFFFFFFFF},
        {"mul.hi.u64 %d0, %d1, %d2;", {minus, 16}, 15},
        {"mul.wide.s32 %d0, %r1, %r2;", {0xFFFFFFFF, 7}, minus - 6},
        {"mul.wide.u32 %d0, %r1, %r2;", {0xFFFFFFFF, 2}, 0x1FFFFFFFE},
        {"mad.lo.s32 %r0, %r1, %r2, %r3;", {3, 4, 5}, 17},
        {"mad.wide.u32 %d0, %r1, %r2, %d3;", {0x80000000, 4, 1}, 0x200000001},
        {"div.s32 %r0, %r1, %r2;", {0xFFFFFFF9, 2}, 0xFFFFFFFD},
        {"div.u32 %r0, %r1, %r2;", {7, 0}, 0xFFFFFFFF},
        {"rem.u32 %r0, %r1, %r2;", {23, 7}, 2},
        {"rem.s32 %r0, %r1, %r2;", {0xFFFFFFE9, 7}, 0xFFFFFFFE},
        {"min.s32 %r0, %r1, %r2;", {0xFFFFFFFF, 1}, 0xFFFFFFFF},
        {"max.u32 %r0, %r1, %r2;", {0xFFFFFFFF, 1}, 0xFFFFFFFF},
        {"neg.s32 %r0, %r1;", {5}, 0xFFFFFFFB},
        {"and.b64 %d0, %d1, %d2;", {0xFF00FF, 0xFFFF}, 0xFF},
        {"xor.b32 %r0, %r1, %r2;", {6, 3}, 5},
        {"not.b32 %r0, %r1;", {0xF}, 0xFFFFFFF0},
        {"shl.b32 %r0, %r1, %r2;", {1, 31}, 0x80000000},
        {"shl.b32 %r0, %r1, %r2;", {1, 32}, 0},
        {"shr.u64 %d0, %d1, %r2;", {minus, 60}, 15},
        {"shr.s32 %r0, %r1, %r2;", {0x80000000, 40}, 0xFFFFFFFF},
        {"bfi.b64 %d0, %d1, %d2, 32, 32;", {0x1234, 0x55}, 0x123400000055},
        {"bfi.b32 %r0, %r1, %r2, 4, 8;", {0xAB, 0xFFFFFFFF}, 0xFFFFFABF},
        {"popc.b32 %r0, %r1;", {0xF0F}, 8},
        {"clz.b32 %r0, %r1;", {1}, 31},
    };
    expect_all(wanted, sizeof wanted / sizeof wanted[0]);
}

static void values_are_compared_and_moved(void **state) {
    (void)state;
    const expected_result wanted[] = {
        {"setp.lt.s32 %p3, %r1, %r2; selp.b32 %r0, 1, 2, %p3;", {0xFFFFFFFF, 0}, 1},
        {"setp.lt.u32 %p3, %r1, %r2; selp.b32 %r0, 1, 2, %p3;", {0xFFFFFFFF, 0}, 2},
        {"setp.ge.s64 %p3, %d1, %d2; selp.b64 %d0, 1, 2, %p3;", {UINT64_MAX, 0}, 2},
        {"setp.ne.f32 %p3, %r1, %r1; selp.b32 %r0, 1, 2, %p3;", {0x7FC00000}, 2},
        {"xor.pred %p3, %p1, %p2; selp.b32 %r0, 1, 2, %p3;", {1, 0}, 1},
        {"not.pred %p3, %p1; @%p3 mov.u32 %r0, 9;", {0}, 9},
        {"@!%p1 mov.u32 %r0, 9;", {1}, 0},
        {"mov.pred %p3, -1; @%p3 mov.u32 %r0, 9;", {0}, 9},
        {"cvt.s64.s32 %d0, %r1;", {0xFFFFFFFE}, UINT64_MAX - 1},
        {"cvt.u64.u32 %d0, %r1;", {0xFFFFFFFE}, 0xFFFFFFFE},
        {"cvt.rn.f32.s32 %r0, %r1;", {0xFFFFFFFE}, bits_of(-2)},
        {"cvt.rzi.s32.f32 %r0, %r1;", {bits_of(-2.7F)}, 0xFFFFFFFE},
        {"mov.b64 %d0, {%r1, %r2};", {0x11, 0x22}, 0x2200000011},
        {"mov.b64 {%r3, %r0}, %d1;", {0x3300000044}, 0x33},
        {"cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; mov.b32 %r0, {%h1, %h2};",
         {0x12345, 0x6789A},
         0x789A2345},
        {"{ .reg .b32 tmp; mov.b64 {tmp, %r0}, %d1; }", {0x5500000066}, 0x55},
    };
    expect_all(wanted, sizeof wanted / sizeof wanted[0]);
}

static void floats_are_calculated(void **state) {
    (void)state;
    const float one = 1.1F;
    const float other = -3.7F;
    const expected_result wanted[] = {
        {"add.f32 %r0, %r1, %r2;", {bits_of(one), bits_of(other)}, bits_of(one + other)},
        {"mul.f32 %r0, %r1, %r2;", {bits_of(one), bits_of(other)}, bits_of(one * other)},
        {"div.rn.f32 %r0, %r1, %r2;", {bits_of(one), bits_of(other)}, bits_of(one / other)},
        {"fma.rn.f32 %r0, %r1, %r2, %r3;",
         {bits_of(one), bits_of(other), bits_of(4)},
         bits_of(fmaf(one, other, 4))},
        {"max.f32 %r0, %r1, %r2;", {bits_of(NAN), bits_of(2)}, bits_of(2)},
        {"ex2.approx.ftz.f32 %r0, %r1;", {bits_of(3)}, bits_of(8)},
        {"rsqrt.approx.f32 %r0, %r1;", {bits_of(16)}, bits_of(0.25F)},
        {"add.f32 %r0, %r1, 0f40000000;", {bits_of(1)}, bits_of(3)},
    };
    expect_all(wanted, sizeof wanted / sizeof wanted[0]);
}

/* ---- lanes ---- */

static void lanes_part_and_meet(void **state) {
    (void)state;
    uint64_t result[32];
    calculate("setp.lt.u32 %p3, %r4, 8; @%p3 bra LOW; activemask.b32 %r0; bra.uni JOIN;\n"
              "LOW: activemask.b32 %r0;\n"
              "JOIN: activemask.b32 %r5; setp.ne.s32 %p3, %r5, -1; @%p3 mov.u32 %r0, 0;",
              (uint64_t[3]){0}, result);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(result[lane], lane < 8 ? 0xFF : 0xFFFFFF00);
}

static void shuffles_reach_other_lanes(void **state) {
    (void)state;
    uint64_t result[32];
    calculate("shfl.sync.bfly.b32 %r0|%p3, %r4, 5, 31, -1;", (uint64_t[3]){0}, result);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(result[lane], lane ^ 5);
    calculate("shfl.sync.up.b32 %r0|%p3, %r4, 2, 0, -1; @!%p3 add.s32 %r0, %r0, 100;",
              (uint64_t[3]){0}, result);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(result[lane], lane < 2 ? lane + 100 : lane - 2);
    calculate("shfl.sync.idx.b32 %r0, %r4, 3, 31, -1;", (uint64_t[3]){0}, result);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(result[lane], 3);
}

/* Variables begin as they are said to, and point at each other. */
static void variables_have_values(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".global .align 1 .b8 name[4] = {97, 98, 99};\n"
             ".global .align 8 .u64 place[2] = {generic(name), 12884901890};\n"
             ".const .align 8 .u64 at = generic(place);\n"
             ".visible .entry k() { ret; }\n";
    void *module;
    address name;
    address place;
    address at;
    size_t size;
    uint64_t words[2];
    assert_int_equal(gpu.load(&module, text), 0);
    assert_int_equal(gpu.global(&name, &size, module, "name"), 0);
    assert_int_equal(size, 4);
    assert_int_equal(gpu.global(&place, &size, module, "place"), 0);
    assert_int_equal(gpu.global(&at, &size, module, "at"), 0);
    assert_int_equal(gpu.to_host(words, at, 8, NULL), 0);
    assert_int_equal(words[0], place);
    assert_int_equal(gpu.to_host(words, place, 16, NULL), 0);
    assert_int_equal(words[0], name);
    assert_int_equal(words[1], UINT64_C(12884901890));
    char said[4];
    assert_int_equal(gpu.to_host(said, name, 4, NULL), 0);
    assert_string_equal(said, "abc");
    assert_int_not_equal(gpu.to_host(said, name + 1, 4, NULL), 0);
    assert_int_equal(gpu.unload(module), 0);
}

/* ---- what is refused ---- */

static void unknown_texts_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "frobnicate.u32 %r1, %r2;",
        "add.f64 %r1, %r2, %r3;",
        "add.sat.s32 %r1, %r2, %r3;",
        "add.s32 %r1, %r2;",
        "add.s64 %r1, %r2, %r3;",
        "mov.u32 %r1, %unheard_of;",
        "bra NOWHERE;",
        "ld.local.u32 %r1, [%d1];",
        "setp.s32 %p1, %r1, %r2;",
        "mov.u32 %r1, %r99;",
        "st.global.u32 %r1, %r2;",
        "add.s32 5, %r1, %r2;",
        ".local .b8 x[4];",
        "call something;",
        "wgmma.fence.sync.aligned;",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[512];
        void *module;
        snprintf(text, sizeof text,
                 HEAD
                 ".visible .entry k() { .reg .pred %%p<4>; .reg .b32 %%r<8>; .reg .b64 %%d<8>;\n"
                 "%s\nret; }\n",
                 wrong[i]);
        if (gpu.load(&module, text) != 218)
            fail_msg("'%s' is taken", wrong[i]);
    }
}

/* The last test: nothing works afterwards, as with a real driver. */
static void an_access_outside_of_memory_ends_everything(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 at) {\n"
             ".reg .b32 %r<4>; .reg .b64 %d<4>;\n"
             "ld.param.u64 %d1, [at];\n"
             "mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;\n"
             "st.global.u32 [%d1], %r1;\n"
             "ret; }\n";
    void *module;
    void *function;
    address at;
    assert_int_equal(gpu.load(&module, text), 0);
    assert_int_equal(gpu.function(&function, module, "k"), 0);
    assert_int_equal(gpu.allocate(&at, 31 * sizeof(uint32_t)), 0);
    assert_int_equal(gpu.launch(function, 1, 1, 1, 31, 1, 1, 0, NULL, (void *[]){&at}, NULL), 0);
    assert_int_equal(gpu.wait(), 0);
    assert_int_equal(gpu.launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&at}, NULL), 0);
    assert_int_equal(gpu.wait(), 700);
    assert_int_equal(gpu.launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&at}, NULL), 700);
    assert_int_equal(gpu.unload(module), 700);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_calculated),
        cmocka_unit_test(values_are_compared_and_moved),
        cmocka_unit_test(floats_are_calculated),
        cmocka_unit_test(lanes_part_and_meet),
        cmocka_unit_test(shuffles_reach_other_lanes),
        cmocka_unit_test(variables_have_values),
        cmocka_unit_test(unknown_texts_are_refused),
        cmocka_unit_test(an_access_outside_of_memory_ends_everything),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
