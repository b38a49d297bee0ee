"""Tests of the model: python -m tracy -p -r -v -m pytest test_model.py::test_model"""

import pytest
import ttnn
from model import Model, make_input


@pytest.fixture
def device():
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)


@pytest.mark.tracy  # with -p, functions of this test are recorded
def test_model(device):
    y = Model(device)(make_input(device))
    assert y.shape == (32, 64)


def test_layers_keep_the_size(device):
    x = make_input(device)
    assert ttnn.layer_norm(x).shape == x.shape
