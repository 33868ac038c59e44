"""A contender in a process of its own, which is stopped while others run: idle threads of most peers spin."""

import gc
import math
import multiprocessing
import os
import resource
import signal
import time

SLICE_SECONDS = 20e-3
WARM_UP_SECONDS = 3e-3
CACHED_BYTES = 2**27  # larger than caches are
FORM_SLICES = 5  # of half the length, for each form
LONG_SECONDS = 0.1  # a call that takes longer shows how fast it is the first time


class WorkerError(Exception):
    """The contender can't do what it was asked; the message says why."""


class Limits:
    """The machine's limits, sampled like a contender."""

    def __init__(self, threads, library):
        import numpy
        from .entries import Entries
        self.numpy, self.entries, self.threads = numpy, Entries(library), threads
        self.name, self.version, self.buffer = "limits", "", None

    def prepare(self, shape):
        self.buffer = self.numpy.ones(shape.key_value_bytes // 4, self.numpy.float32) if shape.few_queries else None

    def sample(self, seconds):
        """FMA peak in GFLOP/s; and reading speed in GB/s, 0 where it doesn't matter."""
        peak, reading = self.entries.fma_gflops(self.threads, seconds), 0
        if self.buffer is not None:
            if self.buffer.nbytes <= CACHED_BYTES:  # back into the caches, where the contender had its own
                self.entries.read_gigabytes(self.buffer, self.threads, seconds)
            reading = self.entries.read_gigabytes(self.buffer, self.threads, seconds)
        return peak, reading


class Contest:
    """A contender of contenders.py, on the worker's side."""

    def __init__(self, name, threads, library):
        from . import contenders
        self.contenders, self.contender = contenders, contenders.CONTENDERS[name](threads, library)
        self.name, self.version = self.contender.name, self.contender.version
        self.form, self.problem, self.calls = None, None, 0

    def prepare(self, shape):
        """Chooses the fastest form; returns its label, its output and the memory that it needs."""
        self.form, forms, errors = None, [], []
        self.problem = self.contenders.Problem(shape)  # kept: forms hold the addresses of its arrays
        for make in self.contender.forms(self.problem):
            try:
                form = make()
                self.call_first(form)
                forms.append(form)
            except Exception as error:  # whatever a peer throws at a form that it has not
                errors.append(first_line(error))
        if not forms:
            raise WorkerError(errors[0])
        self.form, seconds = self.fastest(forms)
        self.form.select()
        self.form.call()
        self.calls = max(1, round(SLICE_SECONDS / seconds))
        return self.form.label, self.contenders.numpy.ascontiguousarray(self.form.output()), self.form.memory

    @staticmethod
    def call_first(form):
        """The first call of a form, which finds out the memory."""
        form.select()
        before = peak_memory(reset=True)
        form.call()
        if form.memory is None:
            form.memory = max(0, peak_memory() - before - form.output().nbytes)

    @staticmethod
    def fastest(forms):
        """The fastest form and the seconds of a call, from slices in turns."""
        seconds = [math.inf] * len(forms)
        for _ in range(FORM_SLICES):
            for index, form in enumerate(forms):
                if seconds[index] == math.inf or seconds[index] < LONG_SECONDS:
                    form.select()
                    form.call()
                    seconds[index] = min(seconds[index], repeated(form.call, SLICE_SECONDS / 2))
        best = min(range(len(forms)), key=seconds.__getitem__)
        return forms[best], seconds[best]

    def slice(self):
        """Seconds of one call, and whether the system took a processor from us meanwhile."""
        gc.collect()
        if self.calls > 1:
            repeated(self.form.call, WARM_UP_SECONDS)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        seconds = timed(self.form.call, self.calls)
        return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw != before


def repeated(call, least):
    """Seconds of one call, from as many as take `least` seconds."""
    start, count, spent = time.perf_counter(), 0, 0
    while spent < least:
        call()
        count, spent = count + 1, time.perf_counter() - start
    return spent / count


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def timed(call, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def peak_memory(reset=False):
    """The most bytes that this process has had in memory, since the last reset where the system has that."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                file.write("5")
        with open("/proc/self/status", encoding="ascii") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


def limit_memory():
    """Lets a form that needs more than half of the memory fail, before the system ends the process."""
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    resource.setrlimit(resource.RLIMIT_DATA, (half, half))


def serve(connection, name, processors, library):
    """Answers (method, arguments) with (True, result) or (False, message) until None comes."""
    os.sched_setaffinity(0, processors)
    threads = len(processors)
    gc.disable()
    limit_memory()
    try:
        contest = Limits(threads, library) if name == "limits" else Contest(name, threads, library)
        connection.send((True, (contest.name, contest.version)))
    except Exception as error:
        connection.send((False, first_line(error)))
        return
    while (request := connection.recv()) is not None:
        try:
            connection.send((True, getattr(contest, request[0])(*request[1])))
        except Exception as error:
            connection.send((False, first_line(error)))


class Worker:
    """The parent's side: a process with a thread on each of `processors`. Between calls it is stopped, with all
    its threads."""

    def __init__(self, name, processors, library):
        spawn = multiprocessing.get_context("spawn")
        self.name = name
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(theirs, name, processors, library), daemon=True)
        self.process.start()
        theirs.close()
        self.version = None

    def wait(self):
        """Returns once the process can be asked; an error says why it can't take part."""
        self.name, self.version = self.answer()

    def answer(self):
        try:
            good, result = self.connection.recv()
        except EOFError:
            raise WorkerError(f"the process of {self.name} ended by itself") from None
        self.signal(signal.SIGSTOP)
        if not good:
            raise WorkerError(result)
        return result

    def ask(self, method, *arguments):
        self.signal(signal.SIGCONT)
        try:
            self.connection.send((method, arguments))
        except BrokenPipeError:
            raise WorkerError(f"the process of {self.name} has ended") from None
        return self.answer()

    def signal(self, number):
        if self.process.is_alive():
            os.kill(self.process.pid, number)

    def close(self):
        self.process.kill()
        self.process.join()
        self.connection.close()
