"""Warm-up, measured runs with functions recorded, and a read at the end:

python -m tracy -p -r -v --sync-host-device end_to_end.py
"""

from __future__ import annotations

import ttnn
from model import Model, make_input
from tracy import Profiler, signpost


def run_model_with_profiling(mesh_device, model, inputs, num_warmup=2, num_iterations=10):
    profiler = Profiler()

    signpost("Warmup Phase Start", f"Running {num_warmup} warmup iterations")
    for _ in range(num_warmup):
        model(inputs)
    ttnn.synchronize_device(mesh_device)
    signpost("Warmup Phase End")

    signpost("Measurement Phase Start", f"Running {num_iterations} measured iterations")
    profiler.enable()
    for i in range(num_iterations):
        if i % 5 == 0:
            signpost(f"Iteration {i}")
        result = model(inputs)
    ttnn.synchronize_device(mesh_device)
    profiler.disable()
    signpost("Measurement Phase End")

    ttnn.ReadDeviceProfiler(mesh_device)
    return result


def main() -> None:
    mesh_device = ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
    result = run_model_with_profiling(mesh_device, Model(mesh_device), make_input(mesh_device))
    print("first value:", result.to_list()[0][0])
    ttnn.close_mesh_device(mesh_device)


if __name__ == "__main__":
    main()
