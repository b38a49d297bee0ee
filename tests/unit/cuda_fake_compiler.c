/* The compiler of the GPU that is none (cuda_fake_driver.c): libnvrtc, by its names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_fake_driver.h"

/* They are found by name; nobody declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { FAILED = 1 };

typedef struct fake_source {
    bool is_wrong;
    bool is_question; /* what headers there are */
    char source[64];
    char code[128]; /* once it is built */
} fake_source;

static const int known[] = {75, 80, 90, 100};

API int nvrtcVersion(int *major, int *minor) {
    const int version = fake_get()->version != 0 ? fake_get()->version : 130;
    *major = version / 10;
    *minor = version % 10;
    return 0;
}

API int nvrtcGetNumSupportedArchs(int *count) {
    *count = (int)(sizeof known / sizeof known[0]);
    return 0;
}

API int nvrtcGetSupportedArchs(int *capabilities) {
    memcpy(capabilities, known, sizeof known);
    return 0;
}

API int nvrtcCreateProgram(fake_source **program, const char *source, const char *name, int count,
                           const char *const *headers, const char *const *names) {
    (void)name, (void)count, (void)headers, (void)names;
    *program = calloc(1, sizeof **program);
    if (*program == NULL)
        return FAILED;
    (*program)->is_wrong = strstr(source, "#error") != NULL;
    (*program)->is_question = (*program)->is_wrong && strncmp(source, "#if __has_include", 17) == 0;
    if ((*program)->is_question)
        (*program)->is_wrong =
            fake_get()->brings != NULL && strstr(source, fake_get()->brings) != NULL;
    snprintf((*program)->source, sizeof(*program)->source, "%s", source);
    return 0;
}

API int nvrtcDestroyProgram(fake_source **program) {
    free(*program);
    return 0;
}

static void set_code(fake_source *program, const char *kind) {
    snprintf(program->code, sizeof program->code, "%s of %s", kind, program->source);
}

static void overwrite(const char *path) {
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fputs("/* something else */", file);
        fclose(file);
    }
}

/* Of what it knows it makes machine code, and PTX of the newest only. */
API int nvrtcCompileProgram(fake_source *program, int count, const char *const *options) {
    const char *wanted = count > 0 ? options[0] : "";
    fake_get()->compilations += program->is_question ? 0 : 1;
    if (fake_get()->overwrites != NULL)
        overwrite(fake_get()->overwrites);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char target[48];
        snprintf(target, sizeof target, "--gpu-architecture=sm_%d", known[i]);
        if (strcmp(wanted, target) == 0)
            set_code(program, "machine code");
    }
    if (strcmp(wanted, "--gpu-architecture=compute_100") == 0)
        set_code(program, ".version");
    return program->is_wrong || program->code[0] == '\0' ? FAILED : 0;
}

API int nvrtcGetProgramLogSize(fake_source *program, size_t *size) {
    (void)program;
    *size = 1;
    return 0;
}

API int nvrtcGetProgramLog(fake_source *program, char *log) {
    (void)program;
    log[0] = '\0';
    return 0;
}

static int size_of_code(const fake_source *program, bool is_ptx, size_t *size) {
    *size = strlen(program->code) + 1;
    return (program->code[0] == '.') == is_ptx ? 0 : FAILED;
}

API int nvrtcGetCUBINSize(fake_source *program, size_t *size) {
    return size_of_code(program, false, size);
}

API int nvrtcGetPTXSize(fake_source *program, size_t *size) {
    return size_of_code(program, true, size);
}

API int nvrtcGetCUBIN(fake_source *program, char *code) {
    memcpy(code, program->code, strlen(program->code) + 1);
    return 0;
}

API int nvrtcGetPTX(fake_source *program, char *code) {
    return nvrtcGetCUBIN(program, code);
}
