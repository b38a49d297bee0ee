// The program whose recordings lie in tests/fixtures/wire: a little of everything that a client can
// send. Built with the client of each version of Tracy; see tests/fixtures/wire/README.md.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>

#include "tracy/Tracy.hpp"
#include "tracy/TracyC.h"

static TracyLockable(std::mutex, gate);

static void leaf(int i) {
    ZoneScopedN("leaf");
    const std::string text = "leaf " + std::to_string(i);
    ZoneText(text.data(), text.size());
    if (i % 2 == 0)
        ZoneName("even", 4);
    if (i % 3 == 0)
        ZoneValue(static_cast<uint64_t>(i));
    if (i % 4 == 0)
        ZoneColor(0x102030);
}

static void work(int id) {
    const std::string name = "worker " + std::to_string(id);
    tracy::SetThreadName(name.c_str());
    for (int i = 0; i < 12; i++) {
        ZoneScopedNC("outer", 0xff8800);
        leaf(i);
        TracyPlot("load", static_cast<double>(i % 5));
        TracyPlot("count", static_cast<int64_t>(i));
        {
            std::lock_guard<LockableBase(std::mutex)> guard(gate);
            leaf(i + 100);
        }
        if (i % 6 == 0) {
            const std::string message = "message " + std::to_string(i);
            TracyMessage(message.data(), message.size());
            TracyMessageLC("literal", 0x00ff00);
        }
        char *memory = new char[64];
        TracyAllocN(memory, 64, "pool");
        TracyFreeN(memory, "pool");
        delete[] memory;
    }
}

static void device() {
    const uint8_t context = 7;
    struct ___tracy_gpu_new_context_data made;
    memset(&made, 0, sizeof made);
    made.period = 1.0f;
    made.context = context;
    made.type = 3;
    ___tracy_emit_gpu_new_context(made);
    struct ___tracy_gpu_context_name_data named;
    named.context = context;
    named.name = "Device 0";
    named.len = 8;
    ___tracy_emit_gpu_context_name(named);
    for (uint16_t i = 0; i < 10; i++) {
        struct ___tracy_gpu_zone_begin_data begin;
        memset(&begin, 0, sizeof begin);
#ifdef LOCATION_HAS_COLOUR
        begin.srcloc = ___tracy_alloc_srcloc(10, "kernel.c", 8, "kernel", 6, 0);
#else
        begin.srcloc = ___tracy_alloc_srcloc(10, "kernel.c", 8, "kernel", 6);
#endif
        begin.queryId = static_cast<uint16_t>(2 * i);
        begin.context = context;
        ___tracy_emit_gpu_zone_begin_alloc(begin);
        struct ___tracy_gpu_zone_end_data end;
        memset(&end, 0, sizeof end);
        end.queryId = static_cast<uint16_t>(2 * i + 1);
        end.context = context;
        ___tracy_emit_gpu_zone_end(end);
        struct ___tracy_gpu_time_data time;
        memset(&time, 0, sizeof time);
        time.context = context;
        for (uint16_t k = 0; k < 2; k++) {
            time.queryId = static_cast<uint16_t>(2 * i + k);
            time.gpuTime = 1000 + i * 100 + k * 60;
            ___tracy_emit_gpu_time(time);
        }
    }
}

int main() {
    for (int i = 0; i < 200 && !TracyIsConnected; i++)
        usleep(20000);
    ZoneScopedN("main");
    TracyAppInfo("invented program", 16);
    TracyPlotConfig("load", tracy::PlotFormatType::Percentage, true, true, 0x123456);
    std::thread first(work, 1);
    std::thread second(work, 2);
    first.join();
    second.join();
    for (int i = 0; i < 5; i++) {
        FrameMark;
        FrameMarkStart("step");
        FrameMarkEnd("step");
    }
    device();
    return 0;
}
