/*
 * The classes behind the macros of Tracy.hpp, with the members that programs use. Included by it.
 */
#ifndef STROBE_TRACY_CLASSES_HPP
#define STROBE_TRACY_CLASSES_HPP

namespace tracy {

/* The same layout as sb_source_location; a type of its own, so that programs can name it. */
struct SourceLocationData {
    const char *name;
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color;
};

static_assert(sizeof(SourceLocationData) == sizeof(sb_source_location),
              "a location is the same in both interfaces");

inline const sb_source_location *StrobeLocationOf(const SourceLocationData *location) {
    return reinterpret_cast<const sb_source_location *>(location);
}

enum class PlotFormatType : uint8_t { Number, Memory, Percentage, Watt };
enum class MessageSourceType : uint8_t { User, Tracy, COUNT };
enum class MessageSeverity : uint8_t { Trace, Debug, Info, Warning, Error, Fatal, COUNT };

/* ---- zones ---- */

class ScopedZone {
  public:
    ScopedZone(const ScopedZone &) = delete;
    ScopedZone(ScopedZone &&) = delete;
    ScopedZone &operator=(const ScopedZone &) = delete;
    ScopedZone &operator=(ScopedZone &&) = delete;

    __attribute__((always_inline)) inline ScopedZone(const SourceLocationData *location,
                                                     int32_t depth = -1, bool is_active = true)
        : zone_{0} {
        if (is_active)
            zone_ = sb_zone_begin_with_stack(StrobeLocationOf(location), depth);
    }

    ScopedZone(uint32_t line, const char *source, size_t source_size, const char *function,
               size_t function_size, const char *name, size_t name_size, uint32_t color,
               int32_t depth = -1, bool is_active = true)
        : zone_{0} {
        if (is_active && sb_is_recording())
            zone_ = sb_zone_begin_dynamic(line, source, source_size, function, function_size, name,
                                          name_size, color, depth);
    }

    ScopedZone(uint32_t line, const char *source, size_t source_size, const char *function,
               size_t function_size, const char *name, size_t name_size, int32_t depth,
               bool is_active = true)
        : ScopedZone(line, source, source_size, function, function_size, name, name_size,
                     uint32_t(0), depth, is_active) {}

    __attribute__((always_inline)) inline ~ScopedZone() {
        sb_zone_end(zone_);
    }

    void Text(const char *text, size_t size) {
        if (zone_.session != 0)
            sb_zone_text(zone_, text, size);
    }

    void Name(const char *name, size_t size) {
        if (zone_.session != 0)
            sb_zone_name(zone_, name, size);
    }

    __attribute__((format(printf, 2, 3))) void TextFmt(const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        const std::string text = Format(format, arguments);
        va_end(arguments);
        Text(text.data(), text.size());
    }

    __attribute__((format(printf, 2, 3))) void NameFmt(const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        const std::string name = Format(format, arguments);
        va_end(arguments);
        Name(name.data(), name.size());
    }

    void Color(uint32_t color) {
        if (zone_.session != 0)
            sb_zone_color(zone_, color);
    }

    void Value(uint64_t value) {
        if (zone_.session != 0)
            sb_zone_value(zone_, value);
    }

    bool IsActive() const {
        return zone_.session != 0;
    }

  private:
    __attribute__((format(printf, 2, 0))) std::string Format(const char *format,
                                                             va_list arguments) const {
        if (zone_.session == 0)
            return std::string();
        va_list again;
        va_copy(again, arguments);
        const int size = vsnprintf(nullptr, 0, format, again);
        va_end(again);
        std::string text(size > 0 ? size_t(size) : 0, '\0');
        if (size > 0)
            vsnprintf(&text[0], text.size() + 1, format, arguments);
        return text;
    }

    sb_zone zone_;
};

/* ---- locks ---- */

/* What both kinds of lock have: the announcement, and their names. */
class StrobeLock {
  public:
    StrobeLock(const SourceLocationData *location, bool is_shared)
        : lock_(sb_lock_announce(StrobeLocationOf(location), is_shared)) {}
    StrobeLock(const StrobeLock &) = delete;
    StrobeLock &operator=(const StrobeLock &) = delete;
    ~StrobeLock() {
        sb_lock_terminate(lock_);
    }

    void Mark(const SourceLocationData *location) {
        sb_lock_mark(lock_, StrobeLocationOf(location));
    }

    void CustomName(const char *name, size_t size) {
        sb_lock_name(lock_, name, size);
    }

  protected:
    sb_lock *lock_;
};

template <class T> class Lockable : public StrobeLock {
  public:
    explicit Lockable(const SourceLocationData *location) : StrobeLock(location, false) {}

    void lock() {
        const bool is_recorded = sb_lock_waiting(lock_) != 0;
        m_lockable.lock();
        if (is_recorded)
            sb_lock_obtained(lock_);
    }

    void unlock() {
        m_lockable.unlock();
        sb_lock_released(lock_);
    }

    bool try_lock() {
        const bool is_obtained = m_lockable.try_lock();
        sb_lock_tried(lock_, is_obtained);
        return is_obtained;
    }

    T m_lockable;
};

template <class T> class SharedLockable : public StrobeLock {
  public:
    explicit SharedLockable(const SourceLocationData *location) : StrobeLock(location, true) {}

    void lock() {
        const bool is_recorded = sb_lock_waiting(lock_) != 0;
        m_lockable.lock();
        if (is_recorded)
            sb_lock_obtained(lock_);
    }

    void unlock() {
        m_lockable.unlock();
        sb_lock_released(lock_);
    }

    bool try_lock() {
        const bool is_obtained = m_lockable.try_lock();
        sb_lock_tried(lock_, is_obtained);
        return is_obtained;
    }

    void lock_shared() {
        const bool is_recorded = sb_lock_waiting_shared(lock_) != 0;
        m_lockable.lock_shared();
        if (is_recorded)
            sb_lock_obtained_shared(lock_);
    }

    void unlock_shared() {
        m_lockable.unlock_shared();
        sb_lock_released_shared(lock_);
    }

    bool try_lock_shared() {
        const bool is_obtained = m_lockable.try_lock_shared();
        sb_lock_tried_shared(lock_, is_obtained);
        return is_obtained;
    }

    T m_lockable;
};

/* ---- the profiler ---- */

typedef void (*ParameterCallback)(void *data, uint32_t idx, int32_t val);
typedef char *(*SourceContentsCallback)(void *data, const char *filename, size_t &size);

class Profiler {
  public:
    static int64_t GetTime() {
        return sb_now();
    }

    static void SendFrameMark(const char *name) {
        sb_frame_mark(name);
    }

    static void SendFrameImage(const void *image, uint16_t width, uint16_t height, uint8_t offset,
                               bool flip) {
        sb_frame_image(image, width, height, offset, flip);
    }

    /* Overloads as Tracy has them, so that the type of the value chooses the same way. */
    static void PlotData(const char *name, int64_t value) {
        sb_plot_integer(name, value);
    }
    static void PlotData(const char *name, float value) {
        sb_plot_float(name, value);
    }
    static void PlotData(const char *name, double value) {
        sb_plot_double(name, value);
    }

    static void ConfigurePlot(const char *name, PlotFormatType type, bool step, bool fill,
                              uint32_t color) {
        sb_plot_configure(name, static_cast<sb_plot_format>(type), step, fill, color);
    }

    static void LogString(MessageSourceType, MessageSeverity severity, uint32_t color,
                          int32_t depth, size_t size, const char *text) {
        sb_message(static_cast<sb_severity>(severity), color, depth, text, size);
    }
    static void LogString(MessageSourceType, MessageSeverity severity, uint32_t color,
                          int32_t depth, const char *literal) {
        sb_message_literal(static_cast<sb_severity>(severity), color, depth, literal);
    }

    static void MessageAppInfo(const char *text, size_t size) {
        sb_app_info(text, size);
    }

    static void MemAlloc(const void *address, size_t size) {
        sb_memory_allocated(address, size, nullptr, 0);
    }
    static void MemFree(const void *address) {
        sb_memory_freed(address, nullptr, 0);
    }
    static void MemAllocCallstack(const void *address, size_t size, int32_t depth) {
        sb_memory_allocated(address, size, nullptr, depth);
    }
    static void MemFreeCallstack(const void *address, int32_t depth) {
        sb_memory_freed(address, nullptr, depth);
    }
    static void MemAllocNamed(const void *address, size_t size, const char *name) {
        sb_memory_allocated(address, size, name, 0);
    }
    static void MemFreeNamed(const void *address, const char *name) {
        sb_memory_freed(address, name, 0);
    }

    static void ParameterRegister(ParameterCallback callback, void *data) {
        sb_parameter_register(callback, data);
    }
    static void ParameterSetup(uint32_t index, const char *name, uint8_t type, int32_t value) {
        sb_parameter_setup(index, name, static_cast<sb_parameter_type>(type), value);
    }

    __attribute__((
        deprecated("libstrobe does not send source files; the callback is not called"))) static void
    SourceCallbackRegister(SourceContentsCallback, void *) {}

    static void EnterFiber(const char *fiber, int32_t group) {
        sb_fiber_enter(fiber, group);
    }
    static void LeaveFiber() {
        sb_fiber_leave();
    }

    bool IsConnected() const {
        return sb_client_is_connected() != 0;
    }
    void SetProgramName(const char *name) {
        sb_set_program_name(name);
    }
};

inline Profiler &GetProfiler() {
    static Profiler profiler;
    return profiler;
}

inline bool ProfilerAvailable() {
    return sb_client_is_started() != 0;
}
inline void StartupProfiler() {
    sb_client_start(nullptr);
}
inline void ShutdownProfiler() {
    sb_client_stop();
}
inline bool IsProfilerStarted() {
    return sb_client_is_started() != 0;
}
/* There is no sampling: it never begins. */
inline bool BeginSamplingProfiling() {
    return false;
}
inline void EndSamplingProfiling() {}

inline void SetThreadName(const char *name) {
    sb_set_thread_name(name);
}
inline void SetThreadNameWithHint(const char *name, int32_t group) {
    sb_set_thread_name_in_group(name, group);
}
inline uint32_t GetThreadHandle() {
    return sb_thread_id();
}

} // namespace tracy

#endif
