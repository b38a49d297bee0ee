#define _XOPEN_SOURCE 600
#include "testing.h"

#include <fcntl.h>

/* ---- style ---- */

static int open_terminal(void) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0)
        skip();
    return terminal;
}

static void set_variable(const char *name, const char *value) {
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void colours_on_a_terminal_unless_refused(void **state) {
    (void)state;
    static const struct {
        const char *no_color;
        const char *term;
        bool colours;
    } cases[] = {
        {NULL, "xterm", true}, {NULL, NULL, true},    {"", "xterm", true},  {"1", "xterm", false},
        {"0", "xterm", false}, {NULL, "dumb", false}, {"1", "dumb", false}, {NULL, "dumber", true},
    };
    const int terminal = open_terminal();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_variable("NO_COLOR", cases[i].no_color);
        set_variable("TERM", cases[i].term);
        assert_int_equal(sb_style_for(terminal).colours, cases[i].colours);
    }
    close(terminal);
}

static void no_colours_where_there_is_no_terminal(void **state) {
    (void)state;
    set_variable("NO_COLOR", NULL);
    set_variable("TERM", "xterm");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_false(sb_style_for(ends[1]).colours);
    close(ends[0]);
    close(ends[1]);
}

static void painted_text_is_wrapped_only_with_colours(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    const sb_slice text = SB_SLICE("x");
    sb_put_painted(&output, (sb_style){.colours = false}, SB_RED, text);
    sb_put_painted(&output, (sb_style){.colours = true}, SB_PLAIN, text);
    check_slice(sb_output_text(&output), "xx");
    sb_output_truncate(&output, 0);
    sb_put_painted(&output, (sb_style){.colours = true}, SB_ORANGE, text);
    check_slice(sb_output_text(&output), "\x1b[38;5;208mx\x1b[0m");
    sb_output_discard(&output);
}

/* ---- table ---- */

static sb_cell cell(const char *text) {
    return (sb_cell){sb_slice_of(text), sb_utf8_length(sb_slice_of(text))};
}

static void columns_only_grow(void **state) {
    (void)state;
    sb_column column = {.width = 5};
    sb_column_fit(&column, 3);
    assert_int_equal(column.width, 5);
    sb_column_fit(&column, 8);
    assert_int_equal(column.width, 8);
}

static const sb_column columns[] = {
    {.title = "Name", .left = true, .title_left = true, .width = 6},
    {.title = "μs", .left = false, .title_left = false, .width = 4},
    {.title = "No", .left = false, .title_left = true, .width = 3},
};

static void titles_and_cells_are_aligned_each_in_their_way(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    const sb_cell cells[] = {cell("ab"), cell("7"), cell("1")};
    sb_table_header(&output, columns, COUNT_OF(columns));
    sb_table_row(&output, columns, cells, COUNT_OF(cells));
    check_slice(sb_output_text(&output), "Name      μs  No \nab         7    1\n");
    sb_output_discard(&output);
}

static void rule_is_as_long_as_the_header(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    sb_table_rule(&output, columns, COUNT_OF(columns));
    check_slice(sb_output_text(&output), "-----------------\n");
    sb_output_truncate(&output, 0);
    sb_table_rule(&output, columns, 0);
    check_slice(sb_output_text(&output), "\n");
    sb_output_discard(&output);
}

static void wide_cell_is_not_cut(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    const sb_cell cells[] = {cell("much too long"), cell("123456"), cell("")};
    sb_table_row(&output, columns, cells, COUNT_OF(cells));
    check_slice(sb_output_text(&output), "much too long  123456     \n");
    sb_output_discard(&output);
}

static void width_of_a_cell_is_what_is_said_not_its_bytes(void **state) {
    (void)state;
    sb_output output = sb_output_to_memory();
    const sb_cell painted[] = {{SB_SLICE("\x1b[1mab\x1b[0m"), 2}, cell("é"), cell("x")};
    sb_table_row(&output, columns, painted, COUNT_OF(painted));
    check_slice(sb_output_text(&output), "\x1b[1mab\x1b[0m         é    x\n");
    sb_output_discard(&output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_on_a_terminal_unless_refused),
        cmocka_unit_test(no_colours_where_there_is_no_terminal),
        cmocka_unit_test(painted_text_is_wrapped_only_with_colours),
        cmocka_unit_test(columns_only_grow),
        cmocka_unit_test(titles_and_cells_are_aligned_each_in_their_way),
        cmocka_unit_test(rule_is_as_long_as_the_header),
        cmocka_unit_test(wide_cell_is_not_cut),
        cmocka_unit_test(width_of_a_cell_is_what_is_said_not_its_bytes),
    };
    return RUN(tests);
}
