#include "cuda/cuda_includes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/cuda_sources.h"

enum { FILES_MOST = 4096, LOOKS_MOST = 1 << 16, BYTES_MOST = 64 << 20, QUESTION_MOST = 64 << 10 };

/* What is known of a path, in a map by its hash. */
enum { ABSENT = 1, PRESENT = 2 };

typedef struct walk {
    const cuda_include_search *search;
    sb_key *key;
    sb_map known;
    char **files; /* to be read, and those that were */
    size_t file_count;
    size_t file_capacity;
    size_t bytes;
    char *question; /* NULL: nothing is missing */
    size_t question_size;
    bool is_certain;
} walk;

/* ---- files ---- */

static bool make_room(walk *self) {
    const size_t capacity = self->file_capacity == 0 ? 64 : 2 * self->file_capacity;
    if (self->file_count < self->file_capacity)
        return true;
    char **files = capacity <= FILES_MOST ? realloc(self->files, capacity * sizeof *files) : NULL;
    if (files == NULL)
        return false;
    self->files = files;
    self->file_capacity = capacity;
    return true;
}

static bool add_file(walk *self, const char *path) {
    char *copy = make_room(self) ? strdup(path) : NULL;
    if (copy != NULL)
        self->files[self->file_count++] = copy;
    return copy != NULL;
}

/* Compilers pass over what is no file; of what cannot be asked nothing is known. */
static int look(walk *self, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        self->is_certain = self->is_certain && (errno == ENOENT || errno == ENOTDIR);
        return ABSENT;
    }
    if (S_ISDIR(status.st_mode))
        return ABSENT;
    self->is_certain = self->is_certain && S_ISREG(status.st_mode) && add_file(self, path);
    return PRESENT;
}

/* Is there such a file? If so, it is read in its turn. */
static bool visit(walk *self, const char *path) {
    const uint64_t name = sb_hash(sb_slice_of(path), 0) | 1;
    uint64_t state = sb_map_get(&self->known, name);
    if (state == 0) {
        state = (uint64_t)look(self, path);
        self->is_certain = self->is_certain && self->known.count < LOOKS_MOST &&
                           sb_map_set(&self->known, name, state);
    }
    return state == PRESENT;
}

static bool visit_in(walk *self, sb_slice folder, sb_slice name) {
    char path[PATH_MAX];
    const int size = snprintf(path, sizeof path, "%.*s/%.*s", (int)folder.size, folder.data,
                              (int)name.size, name.data);
    self->is_certain = self->is_certain && size > 0 && size < (int)sizeof path;
    return self->is_certain && visit(self, path);
}

/* ---- names ---- */

/* They come before all folders. */
static bool is_carried(sb_slice name) {
    for (size_t i = 0; i < cuda_source_file_count; i++)
        if (sb_slice_is(name, cuda_source_files[i].name))
            return true;
    return false;
}

/* In every folder, whichever of them the compiler looks into first. */
static bool find_name(walk *self, sb_slice folder, sb_slice name) {
    const cuda_include_search *search = self->search;
    if (is_carried(name))
        return true;
    if (name.data[0] == '/')
        return visit_in(self, (sb_slice){"", 0}, name);
    bool is_found = visit_in(self, folder, name);
    is_found = visit_in(self, search->folder, name) || is_found;
    for (size_t i = 0; i < search->folder_count && self->is_certain; i++)
        is_found = visit_in(self, search->folders[i], name) || is_found;
    return is_found;
}

static bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\v' || letter == '\f' || letter == '\r';
}

static sb_slice after_blanks(sb_slice text) {
    size_t count = 0;
    while (count < text.size && is_blank(text.data[count]))
        count++;
    return sb_slice_after(text, count);
}

static sb_slice before_blanks(sb_slice text) {
    while (text.size > 0 && is_blank(text.data[text.size - 1]))
        text.size--;
    return text;
}

/* "name" or <name>; false: it is a macro, or anything else. */
static bool read_name(sb_slice text, sb_slice *name) {
    sb_slice rest;
    text = after_blanks(text);
    if (text.size == 0 || (text.data[0] != '"' && text.data[0] != '<'))
        return false;
    const char end = text.data[0] == '"' ? '"' : '>';
    const sb_slice line = sb_slice_cut(sb_slice_after(text, 1), '\n', &rest);
    *name = sb_slice_cut(line, end, &rest);
    return name->size > 0 && name->size < line.size && memchr(name->data, '\0', name->size) == NULL;
}

/* ---- texts ---- */

/* Does a word go on here? */
static bool is_in_word(sb_slice text) {
    if (text.size == 0)
        return false;
    const char first = text.data[0];
    return first == '_' || (first >= '0' && first <= '9') || (first >= 'a' && first <= 'z') ||
           (first >= 'A' && first <= 'Z');
}

/* A name of no file that we know is one for the compiler; false: that cannot be asked. */
static bool ask(walk *self, sb_slice name) {
    const uint64_t asked = sb_hash(name, 1) | 1;
    if (sb_map_get(&self->known, asked) != 0)
        return true;
    if (self->question == NULL)
        self->question = malloc(QUESTION_MOST);
    if (self->question == NULL || name.data[0] == '/' || memchr(name.data, '>', name.size) != NULL)
        return false;
    const size_t room = QUESTION_MOST - self->question_size;
    const int size =
        snprintf(self->question + self->question_size, room,
                 "#if __has_include(<%.*s>)\n#error\n#endif\n", (int)name.size, name.data);
    self->question_size += size > 0 ? (size_t)size : room;
    return self->question_size < QUESTION_MOST && sb_map_set(&self->known, asked, ABSENT);
}

/* Behind "__has_include": whether there is such a file or not decides. */
static void take_question(walk *self, sb_slice folder, sb_slice after) {
    sb_slice name;
    after = after_blanks(after);
    if (!is_in_word(after) && (after.size == 0 || after.data[0] != '('))
        return; /* it is asked whether there is this question */
    self->is_certain = after.data[0] == '(' && read_name(sb_slice_after(after, 1), &name) &&
                       (find_name(self, folder, name) || ask(self, name)) && self->is_certain;
}

/* Behind "#include". */
static void take_directive(walk *self, sb_slice folder, sb_slice after) {
    sb_slice name;
    self->is_certain = read_name(after, &name) &&
                       (find_name(self, folder, name) || ask(self, name)) && self->is_certain;
}

static bool is_directive(sb_slice before) {
    before = before_blanks(before);
    return sb_slice_ends_with(before, "#") || sb_slice_ends_with(before, "%:");
}

/* At the word "include", wherever it stands: it is taken for what it might be. */
static void take_include(walk *self, sb_slice folder, sb_slice before, sb_slice after) {
    if (sb_slice_starts_with(after, "_next"))
        after = sb_slice_after(after, sizeof "_next" - 1);
    if (sb_slice_ends_with(before, "__has_"))
        take_question(self, folder, after);
    else if (is_directive(before) && !is_in_word(after))
        take_directive(self, folder, after);
    else if (sb_slice_ends_with(before_blanks(before), "*/")) /* a # may be before the comment */
        self->is_certain = false;
}

/* Compilers may come that read files in more ways. */
static void take_other(walk *self, sb_slice folder, sb_slice before, sb_slice after) {
    sb_slice name;
    (void)folder;
    if (sb_slice_ends_with(before, "__has_") || is_directive(before) || read_name(after, &name) ||
        sb_slice_ends_with(before_blanks(before), "*/"))
        self->is_certain = false;
}

typedef void (*word_taker)(walk *self, sb_slice folder, sb_slice before, sb_slice after);

static void take_words(walk *self, sb_slice folder, sb_slice text, const char *word,
                       word_taker take) {
    size_t begin = 0;
    while (self->is_certain) {
        const size_t at = sb_slice_find(sb_slice_after(text, begin), word);
        if (at == SB_NOT_FOUND)
            return;
        const size_t end = begin + at + strlen(word);
        take(self, folder, sb_slice_first(text, begin + at), sb_slice_after(text, end));
        begin = end;
    }
}

/* The time, and what old dialects read as other letters. */
static bool is_lasting(sb_slice text) {
    static const char *const words[] = {"__DATE__", "__TIME__", "__TIMESTAMP__", "?\?=", "?\?/"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (sb_slice_contains(text, words[i]))
            return false;
    return true;
}

static void take_text(walk *self, sb_slice folder, sb_slice text) {
    self->is_certain = self->is_certain && is_lasting(text);
    take_words(self, folder, text, "include", take_include);
    take_words(self, folder, text, "embed", take_other);
    take_words(self, folder, text, "import", take_other);
}

/* Lines that end in a backslash go on in the next one. */
static size_t join_lines(char *text, size_t size) {
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        const size_t end = i + 1 < size && text[i + 1] == '\r' ? i + 2 : i + 1;
        if (text[i] == '\\' && end < size && text[end] == '\n')
            i = end;
        else
            text[kept++] = text[i];
    }
    return kept;
}

/* The text is changed, and known to the key as it was. */
static void take_source(walk *self, sb_slice folder, char *text, size_t size) {
    sb_key_add(self->key, (sb_slice){text, size});
    take_text(self, folder, (sb_slice){text, join_lines(text, size)});
}

/* ---- all of them ---- */

/* Read and not mapped: a file that is cut meanwhile would end the process. */
static char *read_file(walk *self, int descriptor, size_t *size) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size > BYTES_MOST - self->bytes)
        return NULL;
    /* One byte more shows whether it grows meanwhile. */
    const size_t expected = (size_t)status.st_size;
    char *text = malloc(expected + 1);
    size_t used = 0;
    ssize_t got = text != NULL ? 1 : -1;
    while (got > 0 && used <= expected) {
        got = read(descriptor, text + used, expected + 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (got == 0 && used == expected) {
        self->bytes += used;
        *size = used;
        return text;
    }
    free(text);
    return NULL;
}

static void take_file(walk *self, const char *path) {
    size_t size = 0;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text = descriptor >= 0 ? read_file(self, descriptor, &size) : NULL;
    if (descriptor >= 0)
        close(descriptor);
    self->is_certain = self->is_certain && text != NULL;
    sb_key_add(self->key, sb_slice_of(path));
    if (text != NULL)
        take_source(self, cuda_folder_of(path), text, size);
    free(text);
}

static void walk_free(walk *self) {
    for (size_t i = 0; i < self->file_count; i++)
        free(self->files[i]);
    free(self->files);
    sb_map_free(&self->known);
}

bool cuda_includes_add(sb_key *key, const cuda_include_search *search, char **question) {
    walk self = {.search = search, .key = key};
    char *copy = strdup(search->source);
    self.is_certain = copy != NULL;
    if (copy != NULL)
        take_source(&self, search->folder, copy, strlen(copy));
    free(copy);
    /* Macros that options define may ask for files as well. */
    for (size_t i = 0; i < search->option_count && self.is_certain; i++)
        take_text(&self, search->folder, sb_slice_of(search->options[i]));
    for (size_t i = 0; i < self.file_count && self.is_certain; i++)
        take_file(&self, self.files[i]);
    if (!self.is_certain) {
        free(self.question);
        self.question = NULL;
    }
    *question = self.question;
    walk_free(&self);
    return self.is_certain;
}

sb_slice cuda_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? sb_slice_of(".") : (sb_slice){path, (size_t)(slash - path)};
}
