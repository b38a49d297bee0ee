"""A long run whose devices are read once in a while, so that nothing is dropped:

TT_METAL_DEVICE_PROFILER=1 TT_METAL_PROFILER_MID_RUN_DUMP=1 python -m tracy -p -r long_running.py
"""

import sys

import ttnn
from model import Model, make_input


def main(epochs: int) -> None:
    mesh_device = ttnn.open_mesh_device()
    model, x = Model(mesh_device), make_input(mesh_device)
    for epoch in range(epochs):
        for _ in range(5):
            x = model(x)
        # Read the profiler after each epoch to avoid buffer overflow.
        ttnn.ReadDeviceProfiler(mesh_device)
        print(f"Epoch {epoch} complete, profiler data captured")
    mesh_device.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
