"""tools/check_cuda_kernels on what ptxas says of good and bad kernels; compiles nothing."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_cuda_kernels"
loader = importlib.machinery.SourceFileLoader("check_cuda_kernels", str(TOOL))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(tool)


def said(name, stack="0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", registers=168):
    return (f"ptxas info    : Compiling entry function '{name}' for 'sm_90a'\n"
            f"ptxas info    : Function properties for {name}\n    {stack}\n"
            f"ptxas info    : Used {registers} registers, used 1 barriers\n")


def checked(text, threads, given=(), taken=()):
    sources = {(name, "sm_90a"): tool.Source(count, given, taken) for name, count in threads.items()}
    tool.compiled = lambda build, group: (text, sources)
    return tool.check("build", "group")


def entry(name, threads, lends=""):
    return (f".visible .entry {name}(\n\t.param .align 64 .b8 {name}_param_0[1600]\n)\n.maxntid {threads}, 1, 1\n"
            f".minnctapersm 1\n{{\n{lends}\tret;\n}}\n")


class CheckCudaKernels(unittest.TestCase):
    def test_good_kernels(self):
        self.assertEqual(checked(said("a") + said("b"), {"a": 384, "b": 256}), ([], [], 2))

    def test_spills(self):
        spilled = said("b", "16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads")
        faults, _, _ = checked(said("a") + spilled, {"a": 384, "b": 384})
        self.assertEqual(faults, ["group: b for sm_90a: spills: 8 bytes stored, 4 loaded"])

    def test_spills_of_a_function_that_a_kernel_calls(self):
        called = ("ptxas info    : Function properties for f\n"
                  "    0 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads\n")
        faults, _, _ = checked(said("a") + called, {"a": 384})
        self.assertEqual(faults, ["group: a for sm_90a: spills: 0 bytes stored, 4 loaded"])

    def test_a_stack_without_spills_is_told(self):
        stack = "64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
        faults, notes, _ = checked(said("a", stack), {"a": 384})
        self.assertEqual(faults, [])
        self.assertEqual(notes, ["group: a for sm_90a: a stack of 64 bytes without spills"])

    def test_more_registers_than_there_are(self):
        faults, _, _ = checked(said("a", registers=255), {"a": 384})
        self.assertEqual(faults, ["group: a for sm_90a: 255 registers for each of 384 threads"])

    def test_serialized_products(self):
        text = "ptxas info    : (C7519) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
        faults, _, _ = checked(text + said("a"), {"a": 384})
        self.assertEqual(len(faults), 1)
        self.assertIn("C7519", faults[0])

    def test_registers_that_ptxas_does_not_lend(self):
        text = ("ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register "
                "requirements.\n")
        faults, _, _ = checked(text + said("a"), {"a": 384})
        self.assertEqual(len(faults), 1)
        self.assertIn("C7508", faults[0])

    def test_registers_that_are_there_to_be_lent(self):
        self.assertEqual(checked(said("a"), {"a": 384}, [40], [232]), ([], [], 1))

    def test_registers_that_nobody_can_give(self):
        faults, _, _ = checked(said("a", registers=128), {"a": 384}, [40], [232])
        self.assertEqual(faults, ["group: a for sm_90a: starts with 128 registers a thread, "
                                  "and its warpgroups take 64512 in all"])

    def test_what_the_text_of_a_kernel_says(self):
        lends = "\tsetmaxnreg.dec.sync.aligned.u32 40;\n\tsetmaxnreg.inc.sync.aligned.u32 232;\n"
        hopper = ".version 9.0\n.target sm_90a\n" + entry("a", 384, lends) + entry("b", 256)
        found = tool.sources_in([hopper, ".version 9.0\n.target sm_80\n" + entry("a", 384)])
        self.assertEqual({name: (source.threads, source.lent()) for name, source in found.items()},
                         {("a", "sm_90a"): (384, 64512), ("b", "sm_90a"): (256, 0), ("a", "sm_80"): (384, 0)})

    def test_a_group_of_which_nothing_is_told(self):
        faults, _, _ = checked("", {})
        self.assertEqual(faults, ["group: ptxas told of no kernel"])

    def test_every_group_of_the_list_is_found(self):
        groups = tool.groups_of(tool.ROOT / "src" / "engines" / "cuda" / "kernels.inc")
        self.assertIn("f64_hopper", groups)
        self.assertEqual(len(groups), len(set(groups)))


if __name__ == "__main__":
    unittest.main()
