/*
 * The macros of Tracy.hpp without TRACY_ENABLE: nothing. Included by it.
 */
#ifndef STROBE_TRACY_OFF_HPP
#define STROBE_TRACY_OFF_HPP

#define TracyNoop

#define ZoneNamed(varname, active)
#define ZoneNamedN(varname, name, active)
#define ZoneNamedC(varname, color, active)
#define ZoneNamedNC(varname, name, color, active)
#define ZoneNamedS(varname, depth, active)
#define ZoneNamedNS(varname, name, depth, active)
#define ZoneNamedCS(varname, color, depth, active)
#define ZoneNamedNCS(varname, name, color, depth, active)

#define ZoneTransient(varname, active)
#define ZoneTransientN(varname, name, active)
#define ZoneTransientNC(varname, name, color, active)
#define ZoneTransientS(varname, depth, active)
#define ZoneTransientNS(varname, name, depth, active)

#define ZoneScoped
#define ZoneScopedN(name)
#define ZoneScopedC(color)
#define ZoneScopedNC(name, color)
#define ZoneScopedS(depth)
#define ZoneScopedNS(name, depth)
#define ZoneScopedCS(color, depth)
#define ZoneScopedNCS(name, color, depth)

#define ZoneText(txt, size)
#define ZoneTextV(varname, txt, size)
#define ZoneTextF(fmt, ...)
#define ZoneTextVF(varname, fmt, ...)
#define ZoneName(txt, size)
#define ZoneNameV(varname, txt, size)
#define ZoneNameF(fmt, ...)
#define ZoneNameVF(varname, fmt, ...)
#define ZoneColor(color)
#define ZoneColorV(varname, color)
#define ZoneValue(value)
#define ZoneValueV(varname, value)
#define ZoneIsActive false
#define ZoneIsActiveV(varname) false

#define FrameMark
#define FrameMarkNamed(name)
#define FrameMarkStart(name)
#define FrameMarkEnd(name)
#define FrameImage(image, width, height, offset, flip)

#define TracyLockable(type, varname) type varname
#define TracyLockableN(type, varname, desc) type varname
#define TracySharedLockable(type, varname) type varname
#define TracySharedLockableN(type, varname, desc) type varname
#define LockableBase(type) type
#define SharedLockableBase(type) type
#define LockMark(varname) (void)varname
#define LockableName(varname, txt, size)

#define TracyPlot(name, val)
#define TracyPlotConfig(name, type, step, fill, color)
#define TracyAppInfo(txt, size)
#define TracyLogString(severity, color, depth, ...)
#define TracyMessage(txt, size)
#define TracyMessageL(txt)
#define TracyMessageC(txt, size, color)
#define TracyMessageLC(txt, color)
#define TracyMessageS(txt, size, depth)
#define TracyMessageLS(txt, depth)
#define TracyMessageCS(txt, size, color, depth)
#define TracyMessageLCS(txt, color, depth)

#define TracyAlloc(ptr, size)
#define TracyFree(ptr)
#define TracyAllocN(ptr, size, name)
#define TracyFreeN(ptr, name)
#define TracyMemoryDiscard(name)
#define TracyAllocS(ptr, size, depth)
#define TracyFreeS(ptr, depth)
#define TracyAllocNS(ptr, size, depth, name)
#define TracyFreeNS(ptr, depth, name)
#define TracyMemoryDiscardS(name, depth)
#define TracySecureAlloc(ptr, size)
#define TracySecureFree(ptr)
#define TracySecureAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name)
#define TracySecureAllocS(ptr, size, depth)
#define TracySecureFreeS(ptr, depth)
#define TracySecureAllocNS(ptr, size, depth, name)
#define TracySecureFreeNS(ptr, depth, name)

#define TracySourceCallbackRegister(cb, data)
#define TracyParameterRegister(cb, data)
#define TracyParameterSetup(idx, name, type, val)
#define TracyIsConnected false
#define TracyIsStarted false
#define TracySetProgramName(name)
#define TracySectionEnter(fmt, ...) 0
#define TracySectionEnterCategory(category, fmt, ...) 0
#define TracySectionLeave(id)
#define TracySectionSetup(category, fmt, ...)
#define TracyFiberEnter(fiber)
#define TracyFiberEnterHint(fiber, groupHint)
#define TracyFiberLeave

namespace tracy {

inline void SetThreadName(const char *) {}
inline void SetThreadNameWithHint(const char *, int32_t) {}

} // namespace tracy

#endif
