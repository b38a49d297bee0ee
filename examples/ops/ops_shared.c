#include "ops_shared.h"

#include <stdio.h>
#include <stdlib.h>

#include <strobe/strobe.h>

/* ---- programs ---- */

sb_program *ops_programs_add(ops_programs *all, sb_device *device) {
    if (all->count == all->capacity) {
        all->capacity = all->capacity * 2 + 16;
        void *moved = realloc(all->programs, all->capacity * sizeof *all->programs);
        if (moved == NULL)
            abort();
        all->programs = moved;
    }
    sb_program *program = sb_program_create(device);
    all->programs[all->count++] = program;
    return program;
}

void ops_programs_destroy(ops_programs *all) {
    for (size_t i = 0; i < all->count; i++)
        sb_program_destroy(all->programs[i]);
    free(all->programs);
    *all = (ops_programs){0};
}

sb_status ops_build_and_enqueue(sb_program *program, sb_error *error) {
    {
        ZoneScopedN("CompileProgram");
        const sb_status status = sb_program_build(program, error);
        if (status != SB_OK)
            return status;
    }
    ZoneScopedN("EnqueueProgram");
    return sb_program_enqueue(program, error);
}

/* ---- shapes ---- */

static bool is_same(ops_shape a, ops_shape b) {
    return a.rows == b.rows && a.columns == b.columns;
}

sb_status ops_refuse(const char *what, ops_shape a, ops_shape b, sb_error *error) {
    if (error != NULL) {
        error->status = SB_ERR_USAGE;
        snprintf(error->message, sizeof error->message, "%s: %u x %u and %u x %u do not fit", what,
                 a.rows, a.columns, b.rows, b.columns);
    }
    return SB_ERR_USAGE;
}

sb_status ops_check_same(const char *what, ops_shape a, ops_shape out, sb_error *error) {
    return is_same(a, out) ? SB_OK : ops_refuse(what, a, out, error);
}

sb_status ops_check_binary(ops_shape a, ops_shape b, ops_shape out, sb_error *error) {
    const sb_status status = ops_check_same("elementwise", a, b, error);
    return status == SB_OK ? ops_check_same("elementwise", a, out, error) : status;
}

sb_status ops_check_matmul(ops_shape a, ops_shape b, ops_shape out, sb_error *error) {
    if (a.columns != b.rows)
        return ops_refuse("matmul", a, b, error);
    if (!is_same(out, (ops_shape){a.rows, b.columns}))
        return ops_refuse("matmul", b, out, error);
    return SB_OK;
}

sb_status ops_check_transpose(ops_shape a, ops_shape out, sb_error *error) {
    return is_same(out, (ops_shape){a.columns, a.rows}) ? SB_OK
                                                        : ops_refuse("transpose", a, out, error);
}

sb_status ops_check_reduce(ops_shape a, ops_shape out, sb_error *error) {
    return is_same(out, (ops_shape){a.rows, 1}) ? SB_OK : ops_refuse("reduce", a, out, error);
}

sb_status ops_check_embedding(ops_shape ids, ops_shape table, ops_shape out, sb_error *error) {
    if (!is_same(ids, (ops_shape){1, out.rows}))
        return ops_refuse("embedding", ids, out, error);
    if (table.columns != out.columns)
        return ops_refuse("embedding", table, out, error);
    return SB_OK;
}
