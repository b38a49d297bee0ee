// The loads that bench/client.py compares: one source against Strobe's headers, Tracy's, and
// neither (without TRACY_ENABLE). Prints "name value" lines.
//
//   floor N            two clock reads and 32 bytes stored, N times
//   burst N THREADS    N zones on each thread, as fast as they come
//   paced N            N zones in small batches with pauses between them
//   parse N            a parser instrumented at each function, over N documents
//   idle               nothing: for the cost of starting and ending
//
// With "wait" as last argument it waits for a reader before it begins. It ends without the
// destructors of the library (except idle): what is measured is the recording.
#include <tracy/Tracy.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <x86intrin.h>

namespace {

using Clock = std::chrono::steady_clock;

double NanosecondsSince(Clock::time_point start) {
    return double(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

void Zones(size_t count) {
    for (size_t i = 0; i < count; i++) {
        ZoneScopedN("load");
        __asm__ volatile("" ::: "memory");
    }
}

// Times of slices that are short beside a time slice of the system: their median does not know
// about other programs on the machine.
constexpr size_t kSlice = 1000;

double MedianPerZone(std::vector<double> &slices) {
    std::nth_element(slices.begin(), slices.begin() + long(slices.size() / 2), slices.end());
    return slices[slices.size() / 2] / kSlice;
}

template <class Work> std::vector<double> TimeSlices(size_t count, Work work) {
    std::vector<double> slices;
    slices.reserve(count / kSlice + 1);
    for (size_t done = 0; done < count; done += kSlice) {
        const auto start = Clock::now();
        work(kSlice);
        slices.push_back(NanosecondsSince(start));
    }
    return slices;
}

void FloorZones(size_t count) {
    constexpr size_t kWords = 8192;
    static uint64_t buffer[kWords];
    for (size_t i = 0; i < count; i++) {
        uint64_t *at = buffer + (4 * i) % kWords;
        at[0] = __rdtsc();
        at[1] = i;
        at[2] = __rdtsc();
        at[3] = i;
        __asm__ volatile("" ::: "memory");
    }
}

void Floor(size_t count) {
    auto slices = TimeSlices(count, FloorZones);
    printf("ns_per_zone %.2f\n", MedianPerZone(slices));
}

void Burst(size_t count, size_t threads) {
    std::atomic<size_t> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> workers;
    std::vector<std::vector<double>> slices(threads);
    for (size_t i = 0; i < threads; i++)
        workers.emplace_back([&, i] {
            Zones(kSlice); // what a thread does once is not what we measure
            ready++;
            while (!go)
                std::this_thread::yield();
            slices[i] = TimeSlices(count, Zones);
        });
    while (ready < threads)
        std::this_thread::yield();
    const auto start = Clock::now();
    go = true;
    for (auto &worker : workers)
        worker.join();
    printf("wall_ns_per_zone %.2f\n", NanosecondsSince(start) / double(count));
    double sum = 0;
    for (auto &of_thread : slices)
        sum += MedianPerZone(of_thread);
    printf("ns_per_zone %.2f\n", sum / double(threads));
}

// Time passes between slices as it does in a program that works: without sleeping, which would
// measure how a machine wakes up.
void Work(std::chrono::microseconds time) {
    const auto start = Clock::now();
    while (Clock::now() - start < time)
        _mm_pause();
}

// The floor is measured in turns with the zones: what the machine does beside is the same for both.
void Paced(size_t count) {
    std::vector<double> slices;
    std::vector<double> floors;
    Zones(kSlice);
    for (size_t done = 0; done < count; done += kSlice) {
        Work(std::chrono::microseconds(200));
        floors.push_back(TimeSlices(kSlice, FloorZones).front());
        slices.push_back(TimeSlices(kSlice, Zones).front());
    }
    printf("floor_ns %.2f\n", MedianPerZone(floors));
    printf("ns_per_zone %.2f\n", MedianPerZone(slices));
}

// A parser of JSON, a zone in each of its functions.
class Parser {
  public:
    explicit Parser(const std::string &text) : at_(text.c_str()) {}

    size_t Value() {
        ZoneScoped;
        Blanks();
        if (*at_ == '{' || *at_ == '[')
            return Container(*at_ == '{' ? '}' : ']');
        if (*at_ == '"')
            return String();
        return Number();
    }

  private:
    void Blanks() {
        while (*at_ == ' ' || *at_ == '\n')
            at_++;
    }
    size_t Container(char end) {
        ZoneScoped;
        size_t values = 1;
        at_++;
        for (Blanks(); *at_ != end; Blanks()) {
            if (end == '}') {
                String();
                Blanks();
                at_++; // the colon
            }
            values += Value();
            Blanks();
            at_ += *at_ == ',';
        }
        at_++;
        return values;
    }
    size_t String() {
        ZoneScoped;
        at_++;
        while (*at_ != '"')
            at_ += *at_ == '\\' ? 2 : 1;
        at_++;
        return 1;
    }
    size_t Number() {
        ZoneScoped;
        char *end = nullptr;
        sum_ += strtod(at_, &end);
        at_ = end;
        return 1;
    }

    const char *at_;
    double sum_ = 0;
};

std::string Document() {
    std::string text = "[";
    char row[256];
    for (int i = 0; i < 2000; i++) {
        snprintf(
            row, sizeof row,
            "%s{\"id\": %d, \"name\": \"row number %d of a document\", \"values\": [%g, %g, %d]}",
            i == 0 ? "" : ",\n", i, i, i * 1.25, i / 3.0, i * 7);
        text += row;
    }
    return text + "]";
}

void Parse(size_t documents) {
    const std::string text = Document();
    size_t values = Parser(text).Value();
    const auto start = Clock::now();
    for (size_t i = 0; i < documents; i++)
        values += Parser(text).Value();
    printf("us_per_document %.2f\nvalues %zu\n", NanosecondsSince(start) / 1000 / double(documents),
           values);
}

} // namespace

int main(int argc, char **argv) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "idle") {
        printf("main_ns %lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
        return 0;
    }
    const size_t count = argc > 2 ? strtoull(argv[2], nullptr, 10) : 0;
    const size_t threads = argc > 3 ? strtoull(argv[3], nullptr, 10) : 1;
    if (strcmp(argv[argc - 1], "wait") == 0) {
        while (!TracyIsConnected)
            usleep(1000);
    }
    if (mode == "floor")
        Floor(count);
    else if (mode == "burst")
        Burst(count, threads);
    else if (mode == "paced")
        Paced(count);
    else if (mode == "parse")
        Parse(count);
    fflush(stdout);
    if (strcmp(argv[argc - 1], "wait") == 0)
        sleep(mode == "parse" ? 3 : 1); // the reader counts what was sent
    _exit(0);
}
