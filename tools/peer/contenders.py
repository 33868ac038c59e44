"""What computes attention: this library, and the peers that are compared with it.

A contender's forms() are the ways in which it can compute a problem: functions that make a Form. The
worker keeps the fastest, so that a peer is judged by its best. Inputs are laid out beforehand as each
form wants them.
"""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Callable, Optional

import numpy

from .entries import Entries, Onednn


def normal(random, shape, heads, seq, dim):
    """N(0, 1), seen as [batch, heads, seq, dim], laid out as the shape says."""
    if shape.bshd:
        return random.standard_normal((shape.batch, seq, heads, dim), dtype=numpy.float32).transpose(0, 2, 1, 3)
    return random.standard_normal((shape.batch, heads, seq, dim), dtype=numpy.float32)


class Problem:
    """A shape with its data: the same in every process."""

    def __init__(self, shape):
        random = numpy.random.default_rng(1)
        self.shape = shape
        self.query = normal(random, shape, shape.heads, shape.queries, shape.dim)
        self.key = normal(random, shape, shape.kv_heads, shape.keys, shape.dim)
        self.value = normal(random, shape, shape.kv_heads, shape.keys, shape.value_dim)

    @property
    def group(self):
        """Query heads for each KV head."""
        return self.shape.heads // self.shape.kv_heads

    def empty_output(self):
        shape = self.shape
        if shape.bshd:
            return numpy.empty((shape.batch, shape.queries, shape.heads, shape.value_dim),
                               numpy.float32).transpose(0, 2, 1, 3)
        return numpy.empty((shape.batch, shape.heads, shape.queries, shape.value_dim), numpy.float32)


@dataclass
class Form:
    label: str
    call: Callable  # computes the output
    output: Callable  # the output of the last call, as an array [batch, heads, seq, dim]
    select: Callable = lambda: None  # to be called before the first call
    memory: Optional[int] = None  # bytes beside the tensors; None: to be measured


class Simdattn:
    def __init__(self, threads, library):
        self.entries, self.threads = Entries(library), threads
        self.name, self.version = "simdattn", self.entries.version()

    def forms(self, problem):
        def make():
            output = problem.empty_output()
            call, workspace = self.entries.attention_call(problem, output, self.threads)
            return Form("ctypes", call, lambda: output, memory=workspace)

        return [make]


class OnednnUnfused:
    def __init__(self, threads, library):
        self.onednn, self.threads = Onednn(Entries(library)), threads
        self.version = self.onednn.version()
        self.name = f"onednn_{self.version}"

    def forms(self, problem):
        def make():
            output = problem.empty_output()
            call, memory = self.onednn.call(problem, output, self.threads)
            return Form("matmul, softmax, matmul", call, lambda: output, memory=memory)

        return [make]


class PyTorch:
    def __init__(self, threads, library):
        import torch
        warnings.filterwarnings("ignore", message="Flash attention")  # it says why it has no fused form
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.torch, self.name, self.version = torch, "pytorch", torch.__version__

    def forms(self, problem):
        query, key, value = (self.torch.from_numpy(array) for array in (problem.query, problem.key, problem.value))
        options = {"is_causal": problem.shape.causal != 0, "enable_gqa": problem.group > 1}
        attention, result = self.torch.nn.functional.scaled_dot_product_attention, []

        def call():
            result[:] = [attention(query, key, value, **options)]

        def select(fused):
            self.torch.backends.cuda.enable_flash_sdp(fused)  # the CPU's too, whatever its name
            self.torch.backends.cuda.enable_math_sdp(not fused)

        def make(label, fused):
            return Form(label, call, lambda: result[0].numpy(), lambda: select(fused))

        return [partial(make, "fused", True), partial(make, "unfused", False)]


class OnnxRuntime:
    def __init__(self, threads, library):
        import onnx
        import onnxruntime
        self.onnx, self.runtime, self.threads = onnx, onnxruntime, threads
        self.name, self.version = "onnxruntime", onnxruntime.__version__

    def forms(self, problem):
        shape, causal = problem.shape, int(problem.shape.causal != 0)
        inputs = [problem.query, problem.key, problem.value]

        def standard():
            output = numpy.empty((shape.batch, shape.heads, shape.queries, shape.value_dim), numpy.float32)
            call = self.call("Attention", "", inputs, output, is_causal=causal)
            return Form("Attention", call, lambda: output)

        def own():
            rows = [array.transpose(0, 2, 1, 3).reshape(shape.batch, array.shape[2], -1) for array in inputs]
            output = numpy.empty((shape.batch, shape.queries, shape.heads * shape.value_dim), numpy.float32)
            call = self.call("MultiHeadAttention", "com.microsoft", rows, output, num_heads=shape.heads,
                             unidirectional=causal)
            heads = output.reshape(shape.batch, shape.queries, shape.heads, shape.value_dim)
            return Form("MultiHeadAttention", call, lambda: heads.transpose(0, 2, 1, 3))

        return [standard, own] if problem.group == 1 else [standard]

    def call(self, operator, domain, inputs, output, **attributes):
        """A function that runs a model of one node."""
        helper = self.onnx.helper
        names = ["query", "key", "value", "output"]
        infos = [helper.make_tensor_value_info(name, self.onnx.TensorProto.FLOAT, array.shape)
                 for name, array in zip(names, [*inputs, output])]
        node = helper.make_node(operator, names[:3], names[3:], domain=domain, **attributes)
        model = helper.make_model(helper.make_graph([node], operator, infos[:3], infos[3:]), ir_version=10,
                                  opset_imports=[helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)])
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        session = self.runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        arrays = [numpy.ascontiguousarray(array) for array in inputs]
        for name, array in zip(names, arrays):
            binding.bind_cpu_input(name, array)
        binding.bind_output(names[3], "cpu", 0, numpy.float32, output.shape, output.ctypes.data)
        return lambda keep_alive=arrays: session.run_with_iobinding(binding)


class OpenVino:
    def __init__(self, threads, library):
        import openvino
        self.openvino, self.threads = openvino, threads
        self.name, self.version = "openvino", openvino.__version__

    def forms(self, problem):
        # Grouped heads as an axis of their own, along which keys and values are broadcast.
        query = problem.query.reshape(problem.shape.batch, problem.shape.kv_heads, problem.group,
                                      problem.shape.queries, problem.shape.dim)
        grouped = [query, problem.key[:, :, None], problem.value[:, :, None]]
        forms = [partial(self.form, "grouped", problem, grouped)]
        if problem.group == 1:
            forms.append(partial(self.form, "plain", problem, [problem.query, problem.key, problem.value]))
        return forms

    def form(self, label, problem, inputs):
        from openvino import opset13
        arrays = [numpy.ascontiguousarray(array) for array in inputs]
        parameters = [opset13.parameter(array.shape, numpy.float32) for array in arrays]
        node = opset13.scaled_dot_product_attention(*parameters, causal=problem.shape.causal != 0)
        options = {"INFERENCE_NUM_THREADS": self.threads, "PERFORMANCE_HINT": "LATENCY",
                   "INFERENCE_PRECISION_HINT": "f32"}
        compiled = self.openvino.Core().compile_model(self.openvino.Model([node], parameters), "CPU", options)
        request = compiled.create_infer_request()
        for index, array in enumerate(arrays):
            request.set_input_tensor(index, self.openvino.Tensor(array, shared_memory=True))
        shape = problem.shape
        return Form(label, lambda keep_alive=arrays: request.infer(),
                    lambda: request.get_output_tensor(0).data.reshape(shape.batch, shape.heads, shape.queries, -1))


CONTENDERS = {"simdattn": Simdattn, "pytorch": PyTorch, "onnxruntime": OnnxRuntime, "openvino": OpenVino,
              "onednn": OnednnUnfused}
