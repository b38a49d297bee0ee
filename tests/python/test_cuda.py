"""Kernels from Python where there is no GPU: what is said, how arguments are packed, what is recorded.

With a GPU, tests/cuda/check_python.py runs real ones.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import struct
import sys
import threading
import types
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from recorded import BIN, PYTHON, Recorded

sys.path.insert(0, str(BIN.parent / "python"))
cuda = importlib.import_module("tracy.cuda")
parameters = importlib.import_module("tracy._cuda_parameters")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "python" / "cuda_kernel.py"


class Library:
    """In the place of libstrobe_cuda: remembers what it was told."""

    def __init__(self) -> None:
        self.built: list[tuple] = []
        self.launches: list[tuple] = []
        self.unloaded: list[int] = []
        self.flushes = 0
        self.sizes: list[int] | None = None

    def build(self, *what: object) -> int:
        self.built.append(what)
        return len(self.built)

    def find(self, module: int, name: str) -> tuple[int, str]:
        return module, name

    def parameters(self, kernel: tuple[int, str]) -> list[int] | None:
        return self.sizes

    def launch(self, kernel: tuple[int, str], shape: ctypes.Structure, stream: int, arguments: list) -> None:
        self.launches.append((kernel, (*shape.grid, *shape.block, shape.shared_bytes), stream,
                              [bytes(argument) for argument in arguments]))

    def unload(self, module: int) -> None:
        self.unloaded.append(module)

    def flush(self) -> None:
        self.flushes += 1


class Driver(threading.local):
    """Contexts are numbers: 100 and up are those of GPUs. Each thread has its own, or none."""

    def __init__(self) -> None:
        self.now = 0
        self.entered: list[int] = []

    def current(self) -> int:
        return self.now

    def context_of(self, device: int | None) -> int:
        if device is None:
            self.now = self.now or 100
        return self.now if device is None else 100 + device

    def enter(self, context: int) -> int:
        self.now, before = context or self.now, self.now
        self.entered.append(self.now)
        return before

    def leave(self, context: int, before: int) -> None:
        self.now = before


def tensor(dtype: str = "float32", device: int | None = 0, address: int = 0x7000) -> types.SimpleNamespace:
    """As PyTorch's."""
    return types.SimpleNamespace(dtype=f"torch.{dtype}", is_cuda=device is not None, data_ptr=lambda: address,
                                 device=types.SimpleNamespace(index=device), shape=(4,))


def array(typestr: str = "<f4", address: int = 0x9000, **more: object) -> types.SimpleNamespace:
    """As those of other libraries."""
    return types.SimpleNamespace(__cuda_array_interface__={"typestr": typestr, "data": (address, False), **more})


class WithStandIns(unittest.TestCase):
    def setUp(self) -> None:
        self.library, self.driver = Library(), Driver()
        for change in (mock.patch.object(cuda, "load", lambda: (self.library, self.driver)),
                       mock.patch.object(cuda, "_modules", {}), mock.patch.object(cuda, "_owner", os.getpid())):
            change.start()
            self.addCleanup(change.stop)

    def kernel(self, parameters: str, **more: object) -> cuda.Kernel:
        made = cuda.kernel(f'extern "C" __global__ void k({parameters}) {{}}', "k", **more)
        self.before = self.driver.now
        return made

    def packed(self, parameters: str, *arguments: object) -> list[bytes]:
        self.kernel(parameters)(*arguments, grid=1, block=32)
        return self.library.launches[-1][3]


class Parameters(unittest.TestCase):
    def types(self, text: str) -> list[tuple]:
        return [(p.name, p.type, tuple(p.scalar) if p.scalar else None) for p in parameters.parse_parameters(text)]

    def test_types_of_numbers(self) -> None:
        self.assertEqual(self.types("int a, unsigned b, long long c, const unsigned int d, size_t e, float f, double g"),
                         [("a", "int", ("i", 4)), ("b", "unsigned", ("u", 4)), ("c", "long long", ("i", 8)),
                          ("d", "unsigned int", ("u", 4)), ("e", "size_t", ("u", 8)), ("f", "float", ("f", 4)),
                          ("g", "double", ("f", 8))])
        self.assertEqual(self.types("bool a, std::uint8_t b, unsigned short int c, __nv_bfloat16 d, half e, long f"),
                         [("a", "bool", ("b", 1)), ("b", "std::uint8_t", ("u", 1)), ("c", "unsigned short int", ("u", 2)),
                          ("d", "__nv_bfloat16", ("B", 2)), ("e", "half", ("f", 2)), ("f", "long", ("i", 8))])

    def test_pointers_and_others(self) -> None:
        self.assertEqual(self.types("const float *__restrict__ a, float4* b, void *c, int **d, int e[]"),
                         [("a", "float *", ("f", 4)), ("b", "float4 *", None), ("c", "void *", None),
                          ("d", "int * *", None), ("e", "int *", ("i", 4))])
        self.assertEqual(self.types("const __grid_constant__ Shape<int, 4> s, dim3 d"),
                         [("s", "Shape<int, 4>", None), ("d", "dim3", None)])

    def test_names_may_be_left_out(self) -> None:
        self.assertEqual(self.types("unsigned int, float *, Shape"),
                         [("parameter 1", "unsigned int", ("u", 4)), ("parameter 2", "float *", ("f", 4)),
                          ("parameter 3", "Shape", None)])
        self.assertEqual(self.types(""), [])
        self.assertEqual(self.types("void"), [])

    def test_found_in_a_source(self) -> None:
        source = """
            // __global__ void k(double wrong)
            __global__ void other(int n) { k(n); }
            extern "C" __global__ void __launch_bounds__(256, 2)
            k(const float *in, /* how many, of all */ int n) {}
        """
        self.assertEqual([p.name for p in parameters.find_parameters(source, "k")], ["in", "n"])
        self.assertIsNone(parameters.find_parameters(source, "absent"))
        self.assertIsNone(parameters.find_parameters("__global__ void k(int n", "k"))


class Packing(WithStandIns):
    def test_numbers_have_the_type_of_the_parameter(self) -> None:
        self.assertEqual(self.packed("int a, long long b, float c, double d, unsigned char e, bool f", -2, 3, 0.5, 2, 255, True),
                         [struct.pack("<i", -2), struct.pack("<q", 3), struct.pack("<f", 0.5), struct.pack("<d", 2),
                          b"\xff", b"\1"])
        self.assertEqual(self.packed("half a, __nv_bfloat16 b, __nv_bfloat16 c", 1.5, 1.0, 1.00390625),
                         [struct.pack("<e", 1.5), b"\x80\x3f", b"\x80\x3f"])  # half way: to the even one
        self.assertEqual(self.packed("unsigned a, float b", ctypes.c_uint(7), ctypes.c_float(2)),
                         [struct.pack("<I", 7), struct.pack("<f", 2)])

    def test_pointers(self) -> None:
        self.assertEqual(self.packed("float *a, const float *b, void *c, float *d", tensor(), array(), tensor("int8"), None),
                         [struct.pack("<Q", address) for address in (0x7000, 0x9000, 0x7000, 0)])
        self.assertEqual(self.packed("unsigned *a, unsigned char *b, float4 *c, int *d", tensor("int32"), tensor("bool"),
                                     tensor("float32"), 0xABC)[3], struct.pack("<Q", 0xABC))

    def test_other_types_come_from_ctypes(self) -> None:
        class Shape(ctypes.Structure):
            _fields_ = [("rows", ctypes.c_int), ("scale", ctypes.c_float)]

        self.assertEqual(self.packed("Shape shape", Shape(3, 0.5)), [struct.pack("<if", 3, 0.5)])

    def refused(self, kind: type[Exception], text: str, parameters: str, *arguments: object, **shape: object) -> None:
        with self.assertRaisesRegex(kind, text):
            self.kernel(parameters)(*arguments, **{"grid": 1, "block": 32, **shape})
        self.assertEqual(self.library.launches, [])

    def test_what_does_not_fit_is_said(self) -> None:
        self.refused(TypeError, "^n is an int, not a float$", "int n", 2.0)
        self.refused(TypeError, "^n is an int, not a str$", "int n", "2")
        self.refused(ValueError, "^n: 2147483648 does not fit into an int$", "int n", 2**31)
        self.refused(ValueError, "^n: -1 does not fit into an unsigned$", "unsigned n", -1)
        self.refused(ValueError, "^x: 1e[+]300 does not fit into a float$", "float x", 1e300)
        self.refused(ValueError, "^x: 3.4e[+]38 does not fit", "__nv_bfloat16 x", 3.4e38)
        self.refused(TypeError, "^x is a float, not a bool$", "float x", True)
        self.refused(TypeError, "^b is a bool, not an int$", "bool b", 1)
        self.refused(TypeError, r"fetched first \(item\(\)\)$", "float x", tensor())
        self.refused(TypeError, "^in is a float [*] and takes an array on the GPU or an address, not a list$", "float *in", [1])
        self.refused(TypeError, "^in is a float [*], but the array holds float16$", "const float *in", tensor("float16"))
        self.refused(TypeError, "^in is a float [*], but the array holds <f8$", "float *in", array("<f8"))
        self.refused(TypeError, "holds uint8$", "bool *in", tensor("uint8"))
        self.refused(ValueError, "^in: the tensor is on the CPU", "float *in", tensor(device=None))
        self.refused(ValueError, "^in: -1 is no address$", "float *in", -1)
        self.refused(TypeError, "^s: its type Shape is not known here; hand it over as a ctypes object, not an int$", "Shape s", 1)
        self.refused(TypeError, "^k has 1 parameters, but 2 arguments came$", "int n", 1, 2)

    def test_shapes(self) -> None:
        launch = self.kernel("int n")
        launch(1, grid=(4, 3), block=(8, 8, 2), shared=1024)
        self.assertEqual(self.library.launches.pop()[1], (4, 3, 1, 8, 8, 2, 1024))
        launch(1, grid=ctypes.c_uint(5).value, block=mock.MagicMock(__index__=lambda _: 64))
        self.assertEqual(self.library.launches.pop()[1], (5, 1, 1, 64, 1, 1, 0))
        self.refused(ValueError, "^grid: 0; its sizes", "int n", 1, grid=0)
        self.refused(ValueError, "^grid: 4 sizes", "int n", 1, grid=(1, 1, 1, 1))
        self.refused(ValueError, "^block: .32, 32, 2.; it has at most 1024 threads", "int n", 1, block=(32, 32, 2))
        self.refused(ValueError, "^grid: .1.5.; its sizes are whole numbers", "int n", 1, grid=[1.5])
        self.refused(ValueError, "^shared: -1 bytes$", "int n", 1, shared=-1)


class Launching(WithStandIns):
    def framework(self, name: str, **parts: object) -> None:
        module = types.SimpleNamespace(cuda=types.SimpleNamespace(**parts), _C=None)
        change = mock.patch.dict(sys.modules, {name: module})
        change.start()
        self.addCleanup(change.stop)

    def with_torch(self, streams: dict[int, int], device: int = 0) -> None:
        self.framework("torch", is_initialized=lambda: True, current_device=lambda: device,
                       current_stream=lambda which: types.SimpleNamespace(cuda_stream=streams[which]))

    def with_cupy(self, stream: int) -> None:
        self.framework("cupy", Device=lambda which=None: mock.MagicMock(id=0),
                       get_current_stream=lambda which: types.SimpleNamespace(ptr=stream))

    def launched(self) -> tuple[int, int]:
        """The context and the stream of the last launch."""
        self.assertEqual(self.driver.now, self.before)
        return self.driver.entered[-1], self.library.launches[-1][2]

    def test_the_current_stream_of_the_framework(self) -> None:
        self.with_torch({0: 0x10, 1: 0x11})
        launch = self.kernel("float *x")
        launch(tensor(), grid=1, block=32)
        self.assertEqual(self.launched(), (100, 0x10))
        launch(tensor(device=1), grid=1, block=32)
        self.assertEqual(self.launched(), (101, 0x11))
        self.assertEqual(len(self.library.built), 2)  # for each GPU once
        launch(None, grid=1, block=32)
        self.assertEqual(self.launched(), (100, 0x10))

    def test_a_stream_that_is_named(self) -> None:
        launch = self.kernel("float *x")
        class Protocol:
            def __cuda_stream__(self) -> tuple[int, int]:
                return 0, 0x44

        for stream, address in ((0x33, 0x33), (types.SimpleNamespace(cuda_stream=0x41), 0x41),
                                (types.SimpleNamespace(ptr=0x42), 0x42), (Protocol(), 0x44)):
            launch(array(), grid=1, block=32, stream=stream)
            self.assertEqual(self.launched()[1], address)
        with self.assertRaisesRegex(TypeError, "^stream: 'x' is neither"):
            launch(array(), grid=1, block=32, stream="x")

    def test_two_frameworks(self) -> None:
        self.with_torch({0: 0x10})
        self.with_cupy(0x20)
        launch = self.kernel("float *x, float *y")
        kind = type("ndarray", (types.SimpleNamespace,), {"__module__": "cupy"})
        theirs = kind(data=types.SimpleNamespace(ptr=0x9000, device_id=0), dtype="float32")
        launch(theirs, None, grid=1, block=32)
        self.assertEqual(self.launched(), (100, 0x20))
        with self.assertRaisesRegex(ValueError, "different streams"):
            launch(theirs, tensor(), grid=1, block=32)
        with self.assertRaisesRegex(ValueError, r"^k: its arrays are on different GPUs \(0, 1\)$"):
            launch(theirs, tensor(device=1), grid=1, block=32)

    def test_arrays_of_others_say_their_stream(self) -> None:
        launch = self.kernel("float *x")
        launch(array(stream=2), grid=1, block=32)
        self.assertEqual(self.launched()[1], 2)
        launch(array(), grid=1, block=32)
        self.assertEqual(self.launched()[1], 0)

    def test_a_source_is_built_once_until_it_is_unloaded(self) -> None:
        first, second = self.kernel("int n"), self.kernel("int n")
        first(1, grid=1, block=32)
        self.assertEqual(len(self.library.built), 1)
        self.assertEqual(self.library.built[0][1:], ("k.cu", (), True))
        self.kernel("int n", options=["-DX"], zones=False)
        self.assertEqual(self.library.built[1][2:], (("-DX",), False))
        first.unload()
        self.assertEqual(self.library.unloaded, [1])
        with self.assertRaisesRegex(cuda.Error, "^k was unloaded$"):
            second(1, grid=1, block=32)
        self.kernel("int n")(1, grid=1, block=32)
        self.assertEqual(len(self.library.built), 3)

    def in_thread(self, what: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=what, daemon=True)
        thread.start()
        return thread

    def test_threads_without_a_context_share_what_is_built(self) -> None:
        launch = self.kernel("int n")
        for _ in range(3):
            self.in_thread(lambda: launch(1, grid=1, block=32)).join()
        self.assertEqual((len(self.library.built), len(self.library.launches)), (1, 3))
        launch.unload()
        self.assertEqual(self.library.unloaded, [1])

    def test_what_is_being_launched_is_not_unloaded(self) -> None:
        launch, is_inside, may_leave = self.kernel("int n"), threading.Event(), threading.Event()
        unloaded_meanwhile = []

        def wait(*_: object) -> None:
            is_inside.set()
            may_leave.wait(10)
            unloaded_meanwhile.extend(self.library.unloaded)

        with mock.patch.object(self.library, "launch", wait):
            launching = self.in_thread(lambda: launch(1, grid=1, block=32))
            self.assertTrue(is_inside.wait(10))
            unloading = self.in_thread(launch.unload)
            unloading.join(0.1)
            self.assertTrue(unloading.is_alive())
            with self.assertRaisesRegex(cuda.Error, "^k was unloaded$"):  # and nobody comes any more
                launch(1, grid=1, block=32)
            may_leave.set()
            launching.join()
            unloading.join()
        self.assertEqual((unloaded_meanwhile, self.library.unloaded), ([], [1]))

    def test_a_launch_that_fails_keeps_nothing_from_being_unloaded(self) -> None:
        for name in ("launch", "find"):
            launch = self.kernel("int n, float *x", options=[name])
            values = tensor() if name == "launch" else tensor(device=1)  # where it is not known yet
            with mock.patch.object(self.library, name, side_effect=cuda.Error("no luck")):
                with self.assertRaisesRegex(cuda.Error, "^no luck$"):
                    launch(1, values, grid=1, block=32)
            unloading = self.in_thread(launch.unload)
            unloading.join(10)
            self.assertFalse(unloading.is_alive())

    def test_parameters_by_hand(self) -> None:
        with self.assertRaisesRegex(ValueError, "^the source has no `__global__ void k"):
            cuda.kernel("MAKE(k)", "k")
        cuda.kernel("MAKE(k)", "k", parameters="float *x, int")(None, 4, grid=1, block=32)
        self.assertEqual(self.library.launches[-1][3][1], struct.pack("<i", 4))

    def test_parameters_are_those_of_the_kernel(self) -> None:
        self.library.sizes = [8, 4]
        self.kernel("float *x, int n")(None, 4, grid=1, block=32)
        cuda.kernel("MAKE(k)", "k", parameters="float *x, thing")
        for wrong, sentence in (("float *x", r"^k takes 2 parameters, not 1: \(float \*\)"),
                                ("float *x, int n, int m", "^k takes 2 parameters, not 3"),
                                ("float *x, long n", "^k: parameter n has 4 bytes, and `long` has 8")):
            with self.assertRaisesRegex(cuda.Error, sentence):
                cuda.kernel("MAKE(k)", "k", parameters=wrong)
        self.library.sizes = []
        cuda.kernel("MAKE(k)", "k", parameters="")(grid=1, block=32)

    def test_the_end_of_a_process(self) -> None:
        self.kernel("int n")
        cuda.flush_at_end()
        self.assertEqual(self.library.flushes, 1)
        with mock.patch.object(os, "getpid", lambda: -1):  # forked from it
            cuda.flush_at_end()
            self.assertEqual(cuda.counts().zones, 0)
        self.assertEqual(self.library.flushes, 1)


class Calling(Recorded):
    """The libraries of C, by a stand-in for both."""

    def test_what_they_are_given(self) -> None:
        script = self.write(f"""
            import ctypes, struct, threading, types
            from tracy import _cuda_library
            path = {os.environ["CUDA_STAND_IN"]!r}
            class Both(ctypes.CDLL):
                def __init__(self, name): super().__init__(path)
            real, _cuda_library.ctypes.CDLL = ctypes.CDLL, Both
            from tracy import cuda
            stand_in = real(path)
            stand_in.stand_in_build.restype = ctypes.c_char_p
            stand_in.stand_in_launch.restype = ctypes.c_void_p
            source = 'extern "C" __global__ void k(float *a, float *b, int n, float by) {{}}'
            k = cuda.kernel(source, "k", options=["-DX=1", "-Iinclude"], zones=False)
            print(stand_in.stand_in_build().decode() == f"k.cu|{{len(source)}}|1|-DX=1|-Iinclude")
            def seen():
                return struct.unpack("<7I4xQQQif", ctypes.string_at(stand_in.stand_in_launch(), 64)[:64])
            class Tensor:
                dtype, is_cuda, device = "torch.float32", True, types.SimpleNamespace(index=1)
                def data_ptr(self): return 0x7F0000001000
            k(Tensor(), None, -5, 0.5, grid=(7, 2), block=64, shared=512, stream=0x99)
            print(seen() == (7, 2, 1, 64, 1, 1, 512, 0x99, 0x7F0000001000, 0, -5, 0.5))
            thread = threading.Thread(target=lambda: k(ctypes.c_void_p(16), 32, 1, 2, grid=1, block=1))
            thread.start()
            thread.join()
            print(seen() == (1, 1, 1, 1, 1, 1, 0, 0, 16, 32, 1, 2.0), k._driver.current() == k._driver.context_of(0))
            print(cuda.counts())
            for wrong in (lambda: k(None, None, 0, 0, grid=13, block=1), lambda: cuda.kernel(source + " nonsense", "k"),
                          lambda: k._driver.context_of(2)):
                try: wrong()
                except cuda.Error as reason: print(reason)
            k.unload()
            print(stand_in.stand_in_built(), stand_in.stand_in_unloaded())
        """)
        done = self.command(PYTHON, script)
        self.assertEqual(done.stdout.splitlines(), [
            "True", "True", "True True", "Counts(zones=2, others=2, lost=3, missed=4, cut=5, unplaced=6)",
            "k cannot be launched: no luck", "k.cu: cannot be built", "GPU 2 cannot be used", "2 2"], done.stderr)


class Recording(Recorded):
    def test_a_launch_is_a_zone(self) -> None:
        self.record(f"""
            import sys
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            import test_cuda
            library, driver = test_cuda.Library(), test_cuda.Driver()
            test_cuda.cuda.load = lambda: (library, driver)
            k = test_cuda.cuda.kernel('extern "C" __global__ void my_kernel(int n) {{}}', "my_kernel")
            def work(): k(1, grid=1, block=32)
            work()
            work()
        """)
        tree, = self.trees()
        self.assertEqual([node for node in tree[0] if node[0] == "work"], [["work", ["my_kernel"]]] * 2)

    def test_one_sentence_without_a_gpu(self) -> None:
        self.environment["CUDA_VISIBLE_DEVICES"] = ""  # also where there is one
        script = self.write("""
            import tracy
            try:
                tracy.cuda.kernel('extern "C" __global__ void k() {}', "k")
            except tracy.cuda.Error as reason:
                print(reason)
        """)
        done = self.command(PYTHON, script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "^[^\n]*CUDA driver[^\n]*\n$")
        self.assertEqual(done.stderr, "")

    def test_the_example_says_what_is_missing(self) -> None:
        for name in ("torch", "cupy"):
            self.write("raise ImportError('not here')", f"{name}.py")
        self.environment["PYTHONPATH"] += f":{self.folder}"
        done = self.command(PYTHON, EXAMPLE)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "cuda_kernel.py: neither PyTorch nor CuPy is installed here; it wants one of them\n")


if __name__ == "__main__":
    unittest.main()
