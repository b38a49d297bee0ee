"""A model, profiled as it is: python -m tracy -p -r -v basic_model.py"""

import ttnn
from model import Model, make_input


def main() -> None:
    device = ttnn.open_device(device_id=0)
    model, x = Model(device), make_input(device)
    for _ in range(3):
        y = model(x)
    print("first value:", y.to_list()[0][0])
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
