#include "trace/trace_ledger.h"

#include <inttypes.h>
#include <string.h>

#define LINE_BEGINS "strobe lost count="

void ledger_put(const sb_trace *trace, const sb_loss *loss, uint64_t thread_id, sb_output *output) {
    sb_put_format(output, LINE_BEGINS "%" PRIu64 " from=%" PRId64, loss->count, loss->from);
    if (loss->to != SB_NO_TIME)
        sb_put_format(output, " to=%" PRId64, loss->to);
    if (loss->thread != SB_NONE)
        sb_put_format(output, " thread=%" PRIu64, thread_id);
    sb_put_format(output, " cause=%u ", (unsigned)loss->cause);
    sb_put(output, sb_trace_text(trace, loss->text));
}

/* The number behind a name at the beginning of *rest; false and *rest as it was if there is none.
 */
static bool take_number(sb_slice *rest, const char *name, uint64_t *value) {
    const size_t name_size = strlen(name);
    sb_slice behind;
    if (!sb_slice_starts_with(*rest, name))
        return false;
    const sb_slice digits = sb_slice_cut(sb_slice_after(*rest, name_size), ' ', &behind);
    const bool is_negative = digits.size > 0 && digits.data[0] == '-';
    uint64_t number = 0;
    for (size_t i = is_negative ? 1 : 0; i < digits.size; i++) {
        const unsigned digit = (unsigned char)digits.data[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    if (digits.size == (is_negative ? 1U : 0U))
        return false;
    *value = is_negative ? 0 - number : number;
    *rest = behind;
    return true;
}

static bool read_line(sb_trace *trace, sb_slice line, sb_loss *loss) {
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t thread_id = 0;
    uint64_t cause = 0;
    *loss = (sb_loss){.to = SB_NO_TIME, .thread = SB_NONE};
    if (!take_number(&line, LINE_BEGINS, &loss->count) || !take_number(&line, "from=", &from))
        return false;
    loss->from = (int64_t)from;
    if (take_number(&line, "to=", &to))
        loss->to = (int64_t)to;
    const bool has_thread = take_number(&line, "thread=", &thread_id);
    if (!take_number(&line, "cause=", &cause) || cause > SB_LOSS_OTHER)
        return false;
    if (has_thread)
        loss->thread = sb_trace_thread(trace, thread_id);
    loss->cause = (sb_loss_cause)cause;
    loss->text = sb_trace_string(trace, line);
    return true;
}

bool sb_trace_add_loss_line(sb_trace *trace, sb_slice line) {
    sb_loss loss;
    if (!read_line(trace, line, &loss))
        return false;
    sb_trace_add_loss(trace, &loss);
    return true;
}

void ledger_take(sb_trace *trace) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < trace->app_info.count; i++) {
        const sb_string string = *(const sb_string *)sb_series_at(&trace->app_info, i);
        if (!sb_trace_add_loss_line(trace, sb_trace_text(trace, string)))
            *(sb_string *)sb_series_at(&trace->app_info, kept++) = string;
    }
    sb_series_publish(&trace->app_info, kept);
}
