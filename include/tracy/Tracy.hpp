/*
 * Tracy.hpp: Tracy's C++ interface over strobe.h.
 *
 * Programs that include Tracy's header of this name compile against this one unchanged: the macros
 * are those of Tracy 0.14 and, where they were dropped or renamed, of the releases before. The
 * classes they use (tracy::ScopedZone, tracy::Lockable, tracy::Profiler ...) have the members that
 * programs call; the insides of Tracy's own are not there.
 *
 * With TRACY_ENABLE nothing is silently empty: what is not supported gives a warning when it is
 * compiled. Without it every macro is empty. docs/client.md has the list.
 */
#ifndef STROBE_TRACY_HPP
#define STROBE_TRACY_HPP

#if defined(STROBE_ENABLE) && !defined(TRACY_ENABLE)
#define TRACY_ENABLE
#endif

#include <stddef.h>
#include <stdint.h>

#include "../strobe/strobe.h"
#include "TracyColor.hpp"

#ifndef TracyFunction
#define TracyFunction __FUNCTION__
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif
#ifndef TracyLine
#define TracyLine TracyConcat(__LINE__, U)
#endif

#define TracyParamTypeInt 0
#define TracyParamTypeBool 1
#define TracyParamTypeTrigger 2

#ifndef TRACY_ENABLE

#include "TracyOff.hpp"

#else

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "TracyClasses.hpp"

#ifndef TRACY_CALLSTACK
#define TRACY_CALLSTACK 0
#endif

#define TracyNoop tracy::ProfilerAvailable()

/* ---- zones ---- */

#define StrobeLocation(name, color)                                                              \
    static constexpr tracy::SourceLocationData TracyConcat(__tracy_source_location, TracyLine) { \
        name, TracyFunction, TracyFile, (uint32_t)TracyLine, color                               \
    }
#define StrobeZone(varname, name, color, depth, active) \
    StrobeLocation(name, color);                        \
    tracy::ScopedZone varname(&TracyConcat(__tracy_source_location, TracyLine), depth, active)

#define ZoneNamed(varname, active) StrobeZone(varname, nullptr, 0, TRACY_CALLSTACK, active)
#define ZoneNamedN(varname, name, active) StrobeZone(varname, name, 0, TRACY_CALLSTACK, active)
#define ZoneNamedC(varname, color, active) \
    StrobeZone(varname, nullptr, color, TRACY_CALLSTACK, active)
#define ZoneNamedNC(varname, name, color, active) \
    StrobeZone(varname, name, color, TRACY_CALLSTACK, active)
#define ZoneNamedS(varname, depth, active) StrobeZone(varname, nullptr, 0, depth, active)
#define ZoneNamedNS(varname, name, depth, active) StrobeZone(varname, name, 0, depth, active)
#define ZoneNamedCS(varname, color, depth, active) \
    StrobeZone(varname, nullptr, color, depth, active)
#define ZoneNamedNCS(varname, name, color, depth, active) \
    StrobeZone(varname, name, color, depth, active)

#define StrobeTransient(varname, name, name_size, color, depth, active)               \
    tracy::ScopedZone varname(TracyLine, TracyFile, strlen(TracyFile), TracyFunction, \
                              strlen(TracyFunction), name, name_size, color, depth, active)
#define ZoneTransient(varname, active) \
    StrobeTransient(varname, nullptr, 0, 0, TRACY_CALLSTACK, active)
#define ZoneTransientN(varname, name, active) \
    StrobeTransient(varname, name, strlen(name), 0, TRACY_CALLSTACK, active)
#define ZoneTransientNC(varname, name, color, active) \
    StrobeTransient(varname, name, strlen(name), color, TRACY_CALLSTACK, active)
#define ZoneTransientS(varname, depth, active) \
    StrobeTransient(varname, nullptr, 0, 0, depth, active)
#define ZoneTransientNS(varname, name, depth, active) \
    StrobeTransient(varname, name, strlen(name), 0, depth, active)

/* The variable of one scope hides that of the scope around it, on purpose. */
#ifndef SuppressVarShadowWarning
#ifdef TRACY_ALLOW_SHADOW_WARNING
#define SuppressVarShadowWarning(Expr) Expr
#else
#define SuppressVarShadowWarning(Expr)                                                  \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") Expr; \
    _Pragma("GCC diagnostic pop")
#endif
#endif

#define ZoneScoped SuppressVarShadowWarning(ZoneNamed(___tracy_scoped_zone, true))
#define ZoneScopedN(name) SuppressVarShadowWarning(ZoneNamedN(___tracy_scoped_zone, name, true))
#define ZoneScopedC(color) SuppressVarShadowWarning(ZoneNamedC(___tracy_scoped_zone, color, true))
#define ZoneScopedNC(name, color) \
    SuppressVarShadowWarning(ZoneNamedNC(___tracy_scoped_zone, name, color, true))
#define ZoneScopedS(depth) SuppressVarShadowWarning(ZoneNamedS(___tracy_scoped_zone, depth, true))
#define ZoneScopedNS(name, depth) \
    SuppressVarShadowWarning(ZoneNamedNS(___tracy_scoped_zone, name, depth, true))
#define ZoneScopedCS(color, depth) \
    SuppressVarShadowWarning(ZoneNamedCS(___tracy_scoped_zone, color, depth, true))
#define ZoneScopedNCS(name, color, depth) \
    SuppressVarShadowWarning(ZoneNamedNCS(___tracy_scoped_zone, name, color, depth, true))

#define ZoneText(txt, size) ___tracy_scoped_zone.Text(txt, size)
#define ZoneTextV(varname, txt, size) varname.Text(txt, size)
#define ZoneTextF(fmt, ...) ___tracy_scoped_zone.TextFmt(fmt, ##__VA_ARGS__)
#define ZoneTextVF(varname, fmt, ...) varname.TextFmt(fmt, ##__VA_ARGS__)
#define ZoneName(txt, size) ___tracy_scoped_zone.Name(txt, size)
#define ZoneNameV(varname, txt, size) varname.Name(txt, size)
#define ZoneNameF(fmt, ...) ___tracy_scoped_zone.NameFmt(fmt, ##__VA_ARGS__)
#define ZoneNameVF(varname, fmt, ...) varname.NameFmt(fmt, ##__VA_ARGS__)
#define ZoneColor(color) ___tracy_scoped_zone.Color(color)
#define ZoneColorV(varname, color) varname.Color(color)
#define ZoneValue(value) ___tracy_scoped_zone.Value(value)
#define ZoneValueV(varname, value) varname.Value(value)
#define ZoneIsActive ___tracy_scoped_zone.IsActive()
#define ZoneIsActiveV(varname) varname.IsActive()

/* ---- frames ---- */

#define FrameMark sb_frame_mark(nullptr)
#define FrameMarkNamed(name) sb_frame_mark(name)
#define FrameMarkStart(name) sb_frame_start(name)
#define FrameMarkEnd(name) sb_frame_end(name)
#define FrameImage(image, width, height, offset, flip) \
    sb_frame_image(image, width, height, offset, flip)

/* ---- locks ---- */

#define StrobeLockLocation(text)                                                                   \
    []() -> const tracy::SourceLocationData * {                                                    \
        static constexpr tracy::SourceLocationData srcloc{nullptr, text, TracyFile, TracyLine, 0}; \
        return &srcloc;                                                                            \
    }()
#define TracyLockable(type, varname)           \
    tracy::Lockable<type> varname {            \
        StrobeLockLocation(#type " " #varname) \
    }
#define TracyLockableN(type, varname, desc) \
    tracy::Lockable<type> varname {         \
        StrobeLockLocation(desc)            \
    }
#define TracySharedLockable(type, varname)     \
    tracy::SharedLockable<type> varname {      \
        StrobeLockLocation(#type " " #varname) \
    }
#define TracySharedLockableN(type, varname, desc) \
    tracy::SharedLockable<type> varname {         \
        StrobeLockLocation(desc)                  \
    }
#define LockableBase(type) tracy::Lockable<type>
#define SharedLockableBase(type) tracy::SharedLockable<type>
#define LockMark(varname)                                                                      \
    static constexpr tracy::SourceLocationData TracyConcat(__tracy_lock_location_, TracyLine){ \
        nullptr, TracyFunction, TracyFile, (uint32_t)TracyLine, 0};                            \
    varname.Mark(&TracyConcat(__tracy_lock_location_, TracyLine))
#define LockableName(varname, txt, size) varname.CustomName(txt, size)

/* ---- plots and messages ---- */

#define TracyPlot(name, val) tracy::Profiler::PlotData(name, val)
#define TracyPlotConfig(name, type, step, fill, color) \
    tracy::Profiler::ConfigurePlot(name, type, step, fill, color)

#define TracyAppInfo(txt, size) sb_app_info(txt, size)
#define TracyLogString(severity, color, depth, ...) \
    tracy::Profiler::LogString(tracy::MessageSourceType::User, severity, color, depth, __VA_ARGS__)
#define TracyMessage(txt, size) TracyMessageS(txt, size, TRACY_CALLSTACK)
#define TracyMessageL(txt) TracyMessageLS(txt, TRACY_CALLSTACK)
#define TracyMessageC(txt, size, color) TracyMessageCS(txt, size, color, TRACY_CALLSTACK)
#define TracyMessageLC(txt, color) TracyMessageLCS(txt, color, TRACY_CALLSTACK)
#define TracyMessageS(txt, size, depth) sb_message(SB_SEVERITY_INFO, 0, depth, txt, size)
#define TracyMessageLS(txt, depth) sb_message_literal(SB_SEVERITY_INFO, 0, depth, txt)
#define TracyMessageCS(txt, size, color, depth) \
    sb_message(SB_SEVERITY_INFO, color, depth, txt, size)
#define TracyMessageLCS(txt, color, depth) sb_message_literal(SB_SEVERITY_INFO, color, depth, txt)

/* ---- memory ---- */

#define TracyAlloc(ptr, size) sb_memory_allocated(ptr, size, nullptr, TRACY_CALLSTACK)
#define TracyFree(ptr) sb_memory_freed(ptr, nullptr, TRACY_CALLSTACK)
#define TracyAllocN(ptr, size, name) sb_memory_allocated(ptr, size, name, TRACY_CALLSTACK)
#define TracyFreeN(ptr, name) sb_memory_freed(ptr, name, TRACY_CALLSTACK)
#define TracyMemoryDiscard(name) sb_memory_discarded(name, TRACY_CALLSTACK)
#define TracyAllocS(ptr, size, depth) sb_memory_allocated(ptr, size, nullptr, depth)
#define TracyFreeS(ptr, depth) sb_memory_freed(ptr, nullptr, depth)
#define TracyAllocNS(ptr, size, depth, name) sb_memory_allocated(ptr, size, name, depth)
#define TracyFreeNS(ptr, depth, name) sb_memory_freed(ptr, name, depth)
#define TracyMemoryDiscardS(name, depth) sb_memory_discarded(name, depth)
/* Of 0.12 and before: recording is always possible here, so they do not differ. */
#define TracySecureAlloc(ptr, size) TracyAlloc(ptr, size)
#define TracySecureFree(ptr) TracyFree(ptr)
#define TracySecureAllocN(ptr, size, name) TracyAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name) TracyFreeN(ptr, name)
#define TracySecureAllocS(ptr, size, depth) TracyAllocS(ptr, size, depth)
#define TracySecureFreeS(ptr, depth) TracyFreeS(ptr, depth)
#define TracySecureAllocNS(ptr, size, depth, name) TracyAllocNS(ptr, size, depth, name)
#define TracySecureFreeNS(ptr, depth, name) TracyFreeNS(ptr, depth, name)

/* ---- the rest ---- */

#define TracySourceCallbackRegister(cb, data) tracy::Profiler::SourceCallbackRegister(cb, data)
#define TracyParameterRegister(cb, data) sb_parameter_register(cb, data)
#define TracyParameterSetup(idx, name, type, val) \
    sb_parameter_setup(idx, name, (sb_parameter_type)(type), val)
#define TracyIsConnected (sb_client_is_connected() != 0)
#define TracyIsStarted (sb_client_is_started() != 0)
#define TracySetProgramName(name) sb_set_program_name(name)

#define TracySectionEnter(fmt, ...) sb_section_enter(0, fmt, ##__VA_ARGS__)
#define TracySectionEnterCategory(category, fmt, ...) sb_section_enter(category, fmt, ##__VA_ARGS__)
#define TracySectionLeave(id) sb_section_leave(id)
#define TracySectionSetup(category, fmt, ...) sb_section_setup(category, fmt, ##__VA_ARGS__)

#define TracyFiberEnter(fiber) sb_fiber_enter(fiber, 0)
#define TracyFiberEnterHint(fiber, groupHint) sb_fiber_enter(fiber, groupHint)
#define TracyFiberLeave sb_fiber_leave()

#endif /* TRACY_ENABLE */

#endif
