// A loop of frames in C++: scoped zones, frame marks, a plot with its configuration, a lock.
//
//     c++ -DTRACY_ENABLE frame_loop.cpp $(pkg-config --cflags --libs strobe)
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <thread>

#include <tracy/Tracy.hpp>

namespace {

TracyLockable(std::mutex, state_mutex);
double position = 0;

void Simulate(int frame) {
    ZoneScoped;
    std::lock_guard<LockableBase(std::mutex)> lock(state_mutex);
    position = std::sin(frame * 0.1);
    TracyPlot("position", position);
}

void Draw(int frame) {
    ZoneScopedNC("draw", tracy::Color::SteelBlue);
    ZoneValue(uint64_t(frame));
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 100 * (frame % 7)));
}

} // namespace

int main() {
    TracyPlotConfig("position", tracy::PlotFormatType::Number, false, true, 0);
    for (int frame = 0; frame < 100; frame++) {
        Simulate(frame);
        Draw(frame);
        FrameMark;
    }
    std::printf("100 frames\n");
}
