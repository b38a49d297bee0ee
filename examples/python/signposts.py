"""Signposts around warm-up and measurement: python -m tracy -p -r signposts.py

Then: strobe perf generated/profiler/reports --start-signpost "Measurement Start" --end-signpost "Measurement End"
"""

import ttnn
from model import Model, make_input
from tracy import signpost


def main() -> None:
    device = ttnn.open_device(device_id=0)
    model, input_tensor = Model(device), make_input(device)
    signpost("Warmup Start")
    for _ in range(2):
        model(input_tensor)
    signpost("Measurement Start", "Beginning timed runs")
    for _ in range(5):
        model(input_tensor)
    ttnn.synchronize_device(device)
    signpost("Measurement End")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
