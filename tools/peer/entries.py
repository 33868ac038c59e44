"""libsimdattn_peers.so through ctypes: the C structs of simdattn/simdattn.h and what bench/peers/ adds."""

import ctypes
import os
from dataclasses import dataclass

F32 = 1


class EntryError(Exception):
    """The library refused or can't be loaded; the message says why."""


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("shape", ctypes.c_int64 * 4),
                ("stride", ctypes.c_int64 * 4)]


class Tensors(ctypes.Structure):
    """Of the members that have a place in the C struct, those that a plain call uses."""

    _fields_ = [("struct_size", ctypes.c_size_t)] + [(name, Tensor) for name in ("query", "key", "value", "output")]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("has_scale", ctypes.c_int32), ("scale", ctypes.c_float),
                ("causal", ctypes.c_int32)]


class Context(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("implementation", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t)]


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 240)]


class ShapeStruct(ctypes.Structure):
    _fields_ = ([("name", ctypes.c_char_p)]
                + [(name, ctypes.c_int64) for name in ("batch", "heads", "kv_heads", "queries", "keys", "dim",
                                                       "value_dim")]
                + [(name, ctypes.c_int32) for name in ("causal", "bshd", "few_queries")] + [("flops", ctypes.c_double)])


@dataclass(frozen=True)
class Shape:
    """A named shape of bench/shapes.hpp."""

    index: int
    name: str
    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    dim: int
    value_dim: int
    causal: int
    bshd: int
    few_queries: int
    flops: float

    @property
    def key_value_bytes(self):
        return 4 * self.batch * self.kv_heads * self.keys * (self.dim + self.value_dim)


class Entries:
    """The library at a path."""

    def __init__(self, path):
        processors = os.sched_getaffinity(0)
        try:
            self.library = ctypes.CDLL(path)
            self.library.simdattn_bench_shape_at.argtypes = [ctypes.c_int, ctypes.c_void_p]
        except (OSError, AttributeError) as error:
            raise EntryError(f"{path}: {error}; `cmake --build build/release --target simdattn_peers` makes it") from None
        for name in ("simdattn_attention", "simdattn_workspace_size"):
            getattr(self.library, name).restype = Status
        self.library.simdattn_version.restype = ctypes.c_char_p
        self.library.simdattn_bench_fma_gflops.argtypes = [ctypes.c_int, ctypes.c_double]
        self.library.simdattn_bench_fma_gflops.restype = ctypes.c_double
        self.library.simdattn_bench_read_gigabytes.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                                                               ctypes.c_double]
        self.library.simdattn_bench_read_gigabytes.restype = ctypes.c_double
        self.start_threads(processors)

    def start_threads(self, processors):
        """As bench/support/threads.hpp: two OpenMPs are loaded where clang made the library, and oneDNN's, which is
        GCC's, has pinned this thread where OMP_PROC_BIND asks for it."""
        bound = os.sched_getaffinity(0)
        if bound != processors:
            os.sched_setaffinity(0, processors)
            self.fma_gflops(len(processors), 1e-3)
            os.sched_setaffinity(0, bound)

    def version(self):
        return self.library.simdattn_version().decode()

    def shapes(self):
        """Every named shape, in the order of the benchmarks."""
        found, struct = [], ShapeStruct()
        while self.library.simdattn_bench_shape_at(len(found), ctypes.byref(struct)):
            values = {name: getattr(struct, name) for name, _ in ShapeStruct._fields_}
            found.append(Shape(len(found), **{**values, "name": struct.name.decode()}))
        return found

    def fma_gflops(self, threads, seconds):
        return self.library.simdattn_bench_fma_gflops(threads, seconds)

    def read_gigabytes(self, array, threads, seconds):
        return self.library.simdattn_bench_read_gigabytes(array.ctypes.data, array.nbytes, threads, seconds)

    def attention_call(self, problem, output, threads):
        """A function without arguments that computes a problem, and the bytes of its workspace."""
        tensors = Tensors(ctypes.sizeof(Tensors), *(self.view(array) for array in (problem.query, problem.key,
                                                                                   problem.value, output)))
        options = Options(ctypes.sizeof(Options), causal=problem.shape.causal)
        context = Context(ctypes.sizeof(Context), threads=threads)
        arguments = [ctypes.byref(struct) for struct in (tensors, options, context)]
        size = ctypes.c_size_t()
        self.check(self.library.simdattn_workspace_size(*arguments, ctypes.byref(size)))
        workspace = ctypes.create_string_buffer(max(1, size.value))
        context.workspace = ctypes.addressof(workspace)
        context.workspace_bytes = size.value
        self.check(self.library.simdattn_attention(*arguments))
        attention = self.library.simdattn_attention

        def call(keep_alive=(tensors, options, context, workspace)):
            if attention(*arguments).code != 0:
                raise EntryError("a call failed that had succeeded before")

        return call, size.value

    @staticmethod
    def view(array):
        """An array [batch, heads, seq, dim] of any strides."""
        return Tensor(array.ctypes.data, F32, array.shape, tuple(stride // array.itemsize for stride in array.strides))

    @staticmethod
    def check(status):
        if status.code != 0:
            raise EntryError(status.message.decode())


class Onednn:
    """oneDNN's attention as bench/baselines/onednn.hpp has it, where the library was built with it."""

    def __init__(self, entries):
        library = entries.library
        try:
            library.simdattn_bench_onednn_version.restype = ctypes.c_char_p
        except AttributeError:
            raise ImportError("libsimdattn_peers.so was built without oneDNN") from None
        library.simdattn_bench_onednn_make.argtypes = [ctypes.c_int] + 4 * [ctypes.c_void_p] + [ctypes.c_int]
        library.simdattn_bench_onednn_make.restype = ctypes.c_void_p
        library.simdattn_bench_onednn_call.argtypes = [ctypes.c_void_p]
        library.simdattn_bench_onednn_call.restype = None
        library.simdattn_bench_onednn_error.argtypes = [ctypes.c_void_p]
        library.simdattn_bench_onednn_error.restype = ctypes.c_char_p
        library.simdattn_bench_onednn_memory.argtypes = [ctypes.c_void_p]
        library.simdattn_bench_onednn_memory.restype = ctypes.c_size_t
        library.simdattn_bench_onednn_free.argtypes = [ctypes.c_void_p]
        library.simdattn_bench_onednn_free.restype = None
        self.library = library
        self.made = None

    def version(self):
        return self.library.simdattn_bench_onednn_version().decode()

    def call(self, problem, output, threads):
        """A function without arguments that computes a problem, and the bytes that it needs beside the tensors."""
        self.library.simdattn_bench_onednn_free(self.made)
        self.made = self.library.simdattn_bench_onednn_make(
            problem.shape.index, *(array.ctypes.data for array in (problem.query, problem.key, problem.value, output)),
            threads)
        self.check()
        function, made = self.library.simdattn_bench_onednn_call, ctypes.c_void_p(self.made)
        function(made)
        self.check()
        return lambda: function(made), self.library.simdattn_bench_onednn_memory(made)

    def check(self):
        error = self.library.simdattn_bench_onednn_error(self.made).decode()
        if error:
            raise EntryError(error)
