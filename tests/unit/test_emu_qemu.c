/*
 * The emulator beside an independent one: qemu runs the same instructions, and registers and memory
 * must be the same afterwards. Skipped where qemu-riscv32 is not installed.
 *
 * A program ends by writing its memory to standard output and exiting (system calls that qemu
 * answers); our machine stops there, since it has none, and its memory is read from outside.
 */
#include <elf.h>
#include <sys/stat.h>

#include "device/device_elf.h"
#include "emu_testing.h"

#define CODE 0x20000u
#define DATA 0x40000u
#define DATA_BYTES 4096u
#define PROGRAMS 60
#define INSTRUCTIONS 400
#define BASE 31u /* x31 holds DATA throughout */

static bool has_qemu(void) {
    return system("qemu-riscv32 --version > /dev/null 2>&1") == 0;
}

/* ---- programs of random instructions ---- */

static uint32_t pick(uint64_t *random, uint32_t count) {
    return (uint32_t)(next_random(random) >> 16) % count;
}

static uint32_t random_register(uint64_t *random) {
    return pick(random, BASE);
}

static uint32_t random_memory(uint64_t *random) {
    static const uint8_t loads[] = {RV_LB, RV_LH, RV_LW, RV_LBU, RV_LHU};
    const uint32_t function = loads[pick(random, 5)];
    const uint32_t size = 1u << (function & 3);
    const int32_t offset = (int32_t)(pick(random, 2048) / size * size);
    if (pick(random, 2) == 0)
        return rv_load(function, random_register(random), BASE, offset);
    return rv_store(function & 3, random_register(random), BASE, offset);
}

static uint32_t random_op(uint64_t *random, uint32_t left) {
    static const uint8_t branches[] = {0, 1, 4, 5, 6, 7};
    const uint32_t rd = random_register(random);
    const uint32_t a = random_register(random);
    const uint32_t b = random_register(random);
    switch (pick(random, 8)) {
    case 0:
        return rv_r(pick(random, 2), pick(random, 8), rd, a, b);
    case 1:
        return rv_r(32, pick(random, 2) == 0 ? 0 : 5, rd, a, b);
    case 2:
        return rv_r(1, pick(random, 8), rd, a, b);
    case 3:
        return rv_lui(rd, (uint32_t)next_random(random));
    case 4:
        return rv_branch(branches[pick(random, 6)], a, b,
                         (int32_t)(1 + pick(random, left < 8 ? left : 8)) * 4);
    case 5:
    case 6:
        return random_memory(random);
    default: {
        const uint32_t function = pick(random, 8);
        if (function == 1)
            return rv_i(0x13, 1, rd, a, (int32_t)pick(random, 32));
        if (function == 5)
            return rv_i(0x13, 5, rd, a, (int32_t)(pick(random, 32) | pick(random, 2) << 10));
        return rv_i(0x13, function, rd, a, (int32_t)(next_random(random) >> 20) >> 20);
    }
    }
}

static size_t make_program(uint64_t *random, uint32_t *code) {
    size_t at = rv_li(code, BASE, DATA);
    for (uint32_t i = 1; i < BASE; i++)
        at += rv_li(code + at, i, (uint32_t)next_random(random));
    for (uint32_t i = 0; i < INSTRUCTIONS; i++)
        code[at++] = random_op(random, INSTRUCTIONS - i);
    /* An offset reaches 2047 bytes at the most, so the base moves. */
    code[at++] = rv_addi(BASE, BASE, 1536);
    code[at++] = rv_addi(BASE, BASE, 1536);
    for (uint32_t i = 1; i < 32; i++)
        code[at++] = rv_store(RV_SW, i, BASE, (int32_t)i * 4);
    /* write(1, DATA, DATA_BYTES); exit(0) */
    at += rv_li(code + at, 10, 1);
    at += rv_li(code + at, 11, DATA);
    at += rv_li(code + at, 12, DATA_BYTES);
    at += rv_li(code + at, 17, 64);
    code[at++] = 0x73;
    at += rv_li(code + at, 10, 0);
    at += rv_li(code + at, 17, 93);
    code[at++] = 0x73;
    return at;
}

/* ---- as a file that both can load ---- */

static void write_elf(const char *path, const uint32_t *code, size_t count) {
    struct {
        Elf32_Ehdr header;
        Elf32_Phdr segments[2];
    } head = {0};
    memcpy(head.header.e_ident, ELFMAG, SELFMAG);
    head.header.e_ident[EI_CLASS] = ELFCLASS32;
    head.header.e_ident[EI_DATA] = ELFDATA2LSB;
    head.header.e_ident[EI_VERSION] = EV_CURRENT;
    head.header.e_type = ET_EXEC;
    head.header.e_machine = 243;
    head.header.e_version = EV_CURRENT;
    head.header.e_entry = CODE;
    head.header.e_phoff = sizeof head.header;
    head.header.e_ehsize = sizeof head.header;
    head.header.e_phentsize = sizeof(Elf32_Phdr);
    head.header.e_phnum = 2;
    const uint32_t offset = 4096;
    head.segments[0] = (Elf32_Phdr){.p_type = PT_LOAD,
                                    .p_offset = offset,
                                    .p_vaddr = CODE,
                                    .p_paddr = CODE,
                                    .p_filesz = (uint32_t)count * 4,
                                    .p_memsz = (uint32_t)count * 4,
                                    .p_flags = PF_R | PF_X,
                                    .p_align = 4096};
    head.segments[1] = (Elf32_Phdr){.p_type = PT_LOAD,
                                    .p_offset = offset,
                                    .p_vaddr = DATA,
                                    .p_paddr = DATA,
                                    .p_memsz = DATA_BYTES,
                                    .p_flags = PF_R | PF_W,
                                    .p_align = 4096};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&head, sizeof head, 1, file), 1);
    assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
    assert_int_equal(fwrite(code, 4, count, file), count);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

static void run_qemu(const char *path, uint8_t memory[DATA_BYTES]) {
    char command[256];
    snprintf(command, sizeof command, "qemu-riscv32 %s", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fread(memory, 1, DATA_BYTES, pipe), DATA_BYTES);
    assert_int_equal(pclose(pipe), 0);
}

/* Loads the file and runs until the first system call. */
static void run_emu(const char *path, emu_time time, uint8_t memory[DATA_BYTES]) {
    sb_file file;
    device_elf elf;
    sb_error error;
    assert_int_equal(sb_file_open(&file, path, &error), SB_OK);
    assert_int_equal(device_elf_parse(file.text, &elf, &error), SB_OK);
    emu_machine *machine = small_machine(time);
    for (size_t i = 0; i < elf.segments.count; i++) {
        const device_segment *segment = sb_vector_at(&elf.segments, i);
        put_l1(machine, 0, 0, segment->address, segment->bytes.data, segment->bytes.size);
    }
    const uint32_t jump = rv_jal(0, (int32_t)elf.entry);
    start_brisc(machine, 0, 0, &jump, 1);
    assert_false(emu_run(machine, 200000000));
    check_contains(sb_slice_of(emu_fault_of(machine)->text), "illegal instruction");
    assert_int_equal(get_l1(machine, 0, 0, emu_fault_of(machine)->pc), 0x73);
    assert_int_equal(emu_read(machine, 0, 18, 18, DATA, memory, DATA_BYTES, &error), SB_OK);
    emu_destroy(machine);
    device_elf_free(&elf);
    sb_file_close(&file);
}

static void check_same(const char *path) {
    uint8_t theirs[DATA_BYTES];
    uint8_t ours[DATA_BYTES];
    run_qemu(path, theirs);
    for (emu_time time = EMU_COUNT; time <= EMU_MODELLED; time++) {
        run_emu(path, time, ours);
        for (size_t i = 0; i < DATA_BYTES; i++)
            if (ours[i] != theirs[i])
                fail_msg("%s: byte %zu is %02x, with qemu %02x", path, i, ours[i], theirs[i]);
    }
}

static void random_instructions_do_the_same(void **state) {
    (void)state;
    if (!has_qemu())
        skip();
    uint64_t random = 20260101;
    const test_folder folder = make_folder();
    for (int i = 0; i < PROGRAMS; i++) {
        uint32_t code[2 * INSTRUCTIONS + 256];
        const size_t count = make_program(&random, code);
        write_elf(path_in(&folder, "program"), code, count);
        check_same(path_in(&folder, "program"));
    }
    remove_folder(&folder);
}

/* ---- compiled programs ---- */

static const char *const c_programs[] = {
    /* Sorting, with recursion and pointers. */
    "static void sort(int *a, int n) { if (n < 2) return; int p = a[n / 2], i = 0, j = n - 1;"
    " for (;; i++, j--) { while (a[i] < p) i++; while (a[j] > p) j--; if (i >= j) break;"
    " int t = a[i]; a[i] = a[j]; a[j] = t; } sort(a, i); sort(a + i, n - i); }"
    "void body(int *out) { unsigned s = 1; for (int i = 0; i < 700; i++) { s = s * 1664525u +"
    " 1013904223u; out[i] = (int)s; } sort(out, 700); }",
    /* 64-bit arithmetic through the compiler's library. */
    "void body(int *out) { unsigned long long x = 88172645463325252ull; for (int i = 0; i < 300;"
    " i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; long long y = (long long)x / (i + 3);"
    " out[2 * i] = (int)(y % 1000003); out[2 * i + 1] = (int)(x % 97 + (y >> 33)); } }",
    /* Software floating point. */
    "void body(int *out) { float a = 1.0f; double b = 1.0; for (int i = 1; i < 200; i++) { a = a *"
    " 1.25f / (float)i + 0.5f; b = b + 1.0 / ((double)i * i); out[2 * i] = (int)(a * 1e6f);"
    " out[2 * i + 1] = (int)(b * 1e8); } }",
    /* Bytes and halves, CRC and run lengths. */
    "void body(int *out) { unsigned char *b = (unsigned char *)out; unsigned crc = ~0u; for (int i"
    " = 0; i < 2000; i++) { crc ^= (unsigned)i * 2654435761u >> 24; for (int k = 0; k < 8; k++) crc"
    " = crc >> 1 ^ (0xEDB88320u & -(crc & 1)); b[i] = (unsigned char)crc; } short *h = (short "
    "*)out;"
    " for (int i = 1100; i < 1300; i++) h[i] = (short)(h[i - 1100] * h[i - 1000] - i); }",
};

static void compiled_programs_do_the_same(void **state) {
    (void)state;
    if (!has_qemu())
        skip();
    const test_folder folder = make_folder();
    for (size_t i = 0; i < COUNT_OF(c_programs); i++) {
        char source[4096];
        char command[1024];
        snprintf(source, sizeof source,
                 "%s\nint data[1024] __attribute__((section(\".dump\")));\n"
                 "__attribute__((naked)) void _start(void) { __asm__ volatile(\n"
                 "\"lui sp, 0x60\\n la a0, data\\n call body\\n li a0, 1\\n la a1, data\\n"
                 " li a2, 4096\\n li a7, 64\\n ecall\\n li a0, 0\\n li a7, 93\\n ecall\"); }\n"
                 "char stack[65536] __attribute__((section(\".stack\")));\n",
                 c_programs[i]);
        write_file(path_in(&folder, "p.c"), sb_slice_of(source));
        snprintf(command, sizeof command,
                 "riscv64-unknown-elf-gcc -march=rv32im -mabi=ilp32 -O%d -ffreestanding -nostdlib "
                 "-nostartfiles -Wl,-Ttext=0x%x -Wl,--section-start=.dump=0x%x "
                 "-Wl,--section-start=.stack=0x50000 -Wl,--section-start=.rodata=0x70000 "
                 "-Wl,-z,max-page-size=4096 -Wl,--no-relax -o %s %s -lgcc 2> /dev/null",
                 (int)(i % 3) + 1, CODE, DATA, path_in(&folder, "p"), path_in(&folder, "p.c"));
        if (system(command) != 0)
            fail_msg("cannot compile program %zu", i);
        check_same(path_in(&folder, "p"));
    }
    remove_folder(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_instructions_do_the_same),
        cmocka_unit_test(compiled_programs_do_the_same),
    };
    return RUN(tests);
}
