/*
 * The report as one page: table, picture, advice. All it needs is inside; it asks nothing of any
 * server, and its policy says so to the browser.
 */
#include "perf/perf_model.h"

#include "perf/perf_picture.h"

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>Performance report</title>\n<style>\n"
    ":root { color-scheme: light dark; --line: #8884; --soft: #888; }\n"
    "body { font: 14px/1.4 system-ui, sans-serif; margin: 2rem; }\n"
    "h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }\n"
    "dt { font-weight: 600; } dd { margin: 0; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: right;\n"
    "  white-space: nowrap; vertical-align: top; }\n"
    "th { position: sticky; top: 0; background: Canvas; cursor: pointer; user-select: none; }\n"
    "th[aria-sort=ascending]::after { content: ' \\25b2'; }\n"
    "th[aria-sort=descending]::after { content: ' \\25bc'; }\n"
    ".text { text-align: left; } .grey { color: var(--soft); }\n"
    ".good { color: #1a7f37; } .slow { color: #9a6700; } .bad { color: #cf222e; }\n"
    "figure { margin: 0; } figure svg { max-width: 100%; height: auto; background: #fff; }\n"
    "td.advice { white-space: normal; min-width: 24rem; } summary { cursor: pointer; }\n"
    "td.advice ul { margin: .2rem 0; padding-left: 1.2rem; }\n"
    "input { font: inherit; padding: .2rem .5rem; margin-bottom: .5rem; width: 20rem; }\n"
    ".scroll { overflow-x: auto; }\n"
    "</style>\n</head>\n<body>\n<h1>Performance report</h1>\n";

/* Sorts by the number or text of a column, and filters rows by what they contain. */
static const char page_script[] =
    "<script>\n"
    "for (const table of document.querySelectorAll('table')) {\n"
    "  const body = table.tBodies[0];\n"
    "  table.querySelectorAll('th').forEach((head, column) => {\n"
    "    head.tabIndex = 0;\n"
    "    const sort = () => {\n"
    "      const down = head.getAttribute('aria-sort') !== 'descending';\n"
    "      for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');\n"
    "      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "      const key = row => { const cell = row.cells[column];\n"
    "        return 'v' in cell.dataset ? Number(cell.dataset.v) : cell.textContent; };\n"
    "      const empty = value => value === '' || Number.isNaN(value);\n"
    "      const rows = [...body.rows].sort((a, b) => {\n"
    "        const x = key(a), y = key(b);\n"
    "        if (empty(x) || empty(y)) return empty(x) - empty(y);\n"
    "        const order = typeof x === 'number' && typeof y === 'number' ? x - y\n"
    "          : String(x).localeCompare(String(y));\n"
    "        return down ? -order : order; });\n"
    "      body.append(...rows); };\n"
    "    head.addEventListener('click', sort);\n"
    "    head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });\n"
    "  });\n"
    "}\n"
    "const filter = document.getElementById('filter');\n"
    "filter.addEventListener('input', () => {\n"
    "  const wanted = filter.value.toLowerCase();\n"
    "  for (const row of document.querySelector('#ops').tBodies[0].rows)\n"
    "    row.hidden = !row.textContent.toLowerCase().includes(wanted); });\n"
    "</script>\n</body>\n</html>\n";

static void put_escaped(sb_output *output, sb_slice text) {
    if (text.data == NULL)
        return;
    sb_arena scratch = {0};
    const sb_slice clean = sb_utf8_clean(&scratch, text);
    for (size_t i = 0; i < clean.size; i++) {
        switch (clean.data[i]) {
        case '<':
            sb_put_text(output, "&lt;");
            break;
        case '>':
            sb_put_text(output, "&gt;");
            break;
        case '&':
            sb_put_text(output, "&amp;");
            break;
        case '"':
            sb_put_text(output, "&quot;");
            break;
        default:
            sb_put_char(output, clean.data[i]);
            break;
        }
    }
    sb_arena_free(&scratch);
}

static void put_text_cell(sb_output *output, sb_slice text, const char *class) {
    sb_put_format(output, "<td class=\"%s\">", class);
    put_escaped(output, text);
    sb_put_text(output, "</td>");
}

/* Shown rounded; sorted by the full value. */
static void put_number_cell(sb_output *output, sb_perf_number number, int decimals,
                            const char *unit, const char *class) {
    if (!sb_perf_has(number)) {
        sb_put_text(output, "<td></td>");
        return;
    }
    char exact[SB_NUMBER_SIZE];
    char shown[SB_NUMBER_SIZE];
    const size_t exact_size = sb_format_shortest(number.value, exact);
    const size_t shown_size = sb_format_fixed(number.value, decimals, true, shown);
    sb_put_format(output, "<td data-v=\"%.*s\"%s%s%s>%.*s%s</td>", (int)exact_size, exact,
                  class[0] != '\0' ? " class=\"" : "", class, class[0] != '\0' ? "\"" : "",
                  (int)shown_size, shown, unit);
}

typedef struct heading {
    const char *title;
    const char *class;
} heading;

static void put_headings(sb_output *output, const char *id, const heading *headings, size_t count) {
    sb_put_format(output, "<div class=\"scroll\"><table id=\"%s\"><thead><tr>", id);
    for (size_t i = 0; i < count; i++) {
        if (headings[i].title != NULL)
            sb_put_format(output, "<th class=\"%s\">%s</th>", headings[i].class, headings[i].title);
    }
    sb_put_text(output, "</tr></thead><tbody>\n");
}

static const char *bound_class(sb_perf_bound bound) {
    switch (bound) {
    case SB_PERF_DRAM:
    case SB_PERF_FLOP:
    case SB_PERF_BOTH:
        return "text good";
    case SB_PERF_SLOW:
        return "text slow";
    case SB_PERF_HOST:
        return "text bad";
    case SB_PERF_UNKNOWN:
        break;
    }
    return "text";
}

/* Folded, so that rows stay one line high. */
static void put_advice_cell(const sb_perf_report *report, const sb_perf_row *row,
                            sb_output *output) {
    sb_arena scratch = {0};
    const sb_perf_advice advice = sb_perf_advise(report, row, &scratch);
    sb_put_text(output, "<td class=\"text advice\">");
    if (advice.count > 0)
        sb_put_format(output, "<details><summary>%zu hint%s</summary><ul>", advice.count,
                      advice.count == 1 ? "" : "s");
    for (size_t i = 0; i < advice.count; i++) {
        sb_put_text(output, "<li>");
        put_escaped(output, advice.items[i]);
        sb_put_text(output, "</li>");
    }
    sb_put_text(output, advice.count > 0 ? "</ul></details></td>" : "</td>");
    sb_arena_free(&scratch);
}

static void put_op(const sb_perf_report *report, const sb_perf_row *row, sb_output *output) {
    const sb_perf_number id = {(double)row->id, SB_PERF_INTEGER};
    sb_put_text(output, perf_row_is_grey(report, row) ? "<tr class=\"grey\">" : "<tr>");
    put_number_cell(output, id, 0, "", "");
    put_number_cell(output, row->total_percent, 1, " %", "");
    put_text_cell(output, sb_slice_of(sb_perf_bound_text(row->bound)), bound_class(row->bound));
    put_text_cell(output, row->op_code, "text");
    if (report->host_count > 1)
        put_text_cell(output, sb_slice_of(report->hosts[row->host]), "text");
    put_number_cell(output, row->device, 0, "", "");
    put_number_cell(output, row->device_time, 1, " μs", "");
    put_number_cell(output, row->gap, 1, " μs", perf_gap_is_high(row) ? "bad" : "");
    put_number_cell(output, row->cores, 0, "", "");
    put_number_cell(output, row->dram, 0, " GB/s", "");
    put_number_cell(output, row->dram_percent, 1, " %", "");
    put_number_cell(output, row->flops, 1, " TFLOPs", "");
    put_number_cell(output, row->flops_percent, 1, " %", "");
    put_number_cell(output, row->utilisation, 1, " %", "");
    put_text_cell(output, row->math_fidelity, "text");
    if (!report->options.no_advice)
        put_advice_cell(report, row, output);
    sb_put_text(output, "</tr>\n");
}

static void put_ops(const sb_perf_report *report, sb_output *output) {
    const heading headings[] = {
        {"ID", ""},
        {"Total %", ""},
        {"Bound", "text"},
        {"OP Code", "text"},
        {report->host_count > 1 ? "Host" : NULL, "text"},
        {"Device", ""},
        {"Device Time", ""},
        {"Gap", ""},
        {"Cores", ""},
        {"DRAM", ""},
        {"DRAM %", ""},
        {"FLOPs", ""},
        {"FLOPs %", ""},
        {"Util %", ""},
        {"Math Fidelity", "text"},
        {report->options.no_advice ? NULL : "Advice", "text"},
    };
    sb_put_text(output, "<h2>Operations</h2>\n<input id=\"filter\" type=\"search\" "
                        "placeholder=\"Filter rows\" aria-label=\"Filter rows\">\n");
    put_headings(output, "ops", headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < report->row_count; i++)
        put_op(report, &report->rows[i], output);
    sb_put_text(output, "</tbody></table></div>\n");
}

static void put_groups(const sb_perf_report *report, sb_output *output) {
    static const heading headings[] = {
        {"Total %", ""},
        {"Group", "text"},
        {"Device", ""},
        {"Category", "text"},
        {"Device Time", ""},
        {"Ops", ""},
        {"FLOPs % (weighted)", ""},
    };
    sb_put_text(output, "<h2>Summary</h2>\n");
    put_headings(output, "summary", headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < report->group_count; i++) {
        const sb_perf_group *group = &report->groups[i];
        sb_put_text(output, "<tr>");
        put_number_cell(output, (sb_perf_number){group->total_percent, SB_PERF_REAL}, 2, " %", "");
        put_text_cell(output, group->key, "text");
        put_number_cell(output, group->device, 0, "", "");
        put_text_cell(output, sb_slice_of(group->category), "text");
        put_number_cell(output, (sb_perf_number){group->device_time, SB_PERF_REAL}, 2, " μs", "");
        put_number_cell(output, (sb_perf_number){(double)group->op_count, SB_PERF_INTEGER}, 0, "",
                        "");
        put_number_cell(output, group->flops_weighted, 2, " %", "");
        sb_put_text(output, "</tr>\n");
    }
    sb_put_text(output, "</tbody></table></div>\n");
}

/* The drawing without the XML declaration in front of it, which has no place inside a page. */
static void put_picture(const sb_perf_report *report, sb_output *output) {
    if (report->group_count == 0)
        return;
    sb_output svg = sb_output_to_memory();
    perf_write_svg(report, &svg);
    const sb_slice text = sb_output_text(&svg);
    const size_t start = sb_slice_find(text, "<svg");
    if (start != SB_NOT_FOUND) {
        sb_put_text(output, "<figure>");
        sb_put(output, sb_slice_after(text, start));
        sb_put_text(output, "</figure>\n");
    }
    sb_output_discard(&svg);
}

static void put_fact(sb_output *output, const char *title, sb_slice text) {
    if (text.size == 0)
        return;
    sb_put_format(output, "<dt>%s</dt><dd>", title);
    put_escaped(output, text);
    sb_put_text(output, "</dd>\n");
}

static void put_facts(const sb_perf_report *report, sb_output *output) {
    sb_arena scratch = {0};
    sb_put_text(output, "<dl>\n");
    put_fact(output, "Where the time went", report->verdict.where);
    put_fact(output, "Biggest opportunity", report->verdict.opportunity);
    put_fact(output, "What to do first", report->verdict.first_step);
    put_fact(output, "Architecture",
             sb_arena_format(&scratch, "%s, %.0f worker cores, %zu device%s", report->arch_name,
                             report->worker_cores, report->device_count,
                             report->device_count == 1 ? "" : "s"));
    if (report->problem_count > 0)
        put_fact(output, "Incomplete",
                 sb_arena_format(&scratch, "%zu problem%s in the data, the first: %s",
                                 report->problem_count, report->problem_count == 1 ? "" : "s",
                                 sb_perf_describe(report, &report->problems[0], &scratch).data));
    sb_put_text(output, "</dl>\n");
    sb_arena_free(&scratch);
}

void sb_perf_write_html(const sb_perf_report *report, sb_output *output) {
    sb_put_text(output, page_head);
    put_facts(report, output);
    put_ops(report, output);
    put_groups(report, output);
    put_picture(report, output);
    sb_put_text(output, page_script);
}
