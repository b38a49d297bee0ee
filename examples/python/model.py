"""A small model for the examples beside it: two layers on a device."""

from __future__ import annotations

import random

import ttnn


class Model:
    def __init__(self, device: ttnn.MeshDevice, width: int = 64) -> None:
        self.device = device
        self.widen = self._weights(width, 2 * width)
        self.narrow = self._weights(2 * width, width)

    def _weights(self, rows: int, columns: int) -> ttnn.Tensor:
        values = random.Random(rows * columns)
        return ttnn.from_torch([[values.uniform(-0.1, 0.1) for _ in range(columns)] for _ in range(rows)],
                               device=self.device)

    def __call__(self, x: ttnn.Tensor) -> ttnn.Tensor:
        hidden = ttnn.relu(ttnn.matmul(ttnn.layer_norm(x), self.widen))
        return ttnn.add(x, ttnn.matmul(hidden, self.narrow))


def make_input(device: ttnn.MeshDevice, rows: int = 32, width: int = 64) -> ttnn.Tensor:
    return ttnn.from_torch([[(row + column) % 7 / 7 for column in range(width)] for row in range(rows)], device=device)
