"""Which zones functions, generators, exceptions, threads and lines become."""

from __future__ import annotations

import subprocess
import unittest

from recorded import PYTHON, STROBE, Recorded

NEW = subprocess.run([PYTHON, "-c", "import sys; print(sys.version_info >= (3, 12))"], capture_output=True,
                     text=True).stdout.strip() == "True"


class Functions(Recorded):
    def test_calls_nest(self) -> None:
        self.record("""
            def inner(): pass
            def outer():
                inner()
                inner()
            outer()
        """)
        self.assertEqual(self.trees(), [[["<module>", ["outer", ["inner"], ["inner"]]]]])

    def test_recursion_is_one_zone_per_call(self) -> None:
        self.record("""
            def down(n):
                if n: down(n - 1)
            down(3)
        """)
        self.assertEqual(self.trees(), [[["<module>", ["down", ["down", ["down", ["down"]]]]]]])

    def test_an_exception_ends_the_zones_it_leaves(self) -> None:
        self.record("""
            def fails(): raise ValueError
            def passes_on(): fails()
            def after(): pass
            try: passes_on()
            except ValueError: pass
            after()
        """)
        self.assertEqual(self.trees(), [[["<module>", ["passes_on", ["fails"]], ["after"]]]])

    def test_a_generator_has_a_zone_each_time_it_runs(self) -> None:
        self.record("""
            def count():
                yield 1
                yield 2
            def after(): pass
            for _ in count(): after()
        """)
        self.assertEqual(self.trees(), [[["<module>", ["count"], ["after"], ["count"], ["after"], ["count"]]]])

    def test_throwing_into_and_closing_generators_keeps_the_order(self) -> None:
        self.record("""
            def patient():
                while True:
                    try: yield
                    except KeyError: pass
            def after(): pass
            g = patient()
            next(g)
            g.throw(KeyError)
            after()
            g.close()
            after()
        """)
        self.assertEqual(self.trees(),
                         [[["<module>", ["patient"], ["patient"], ["after"], ["patient"], ["after"]]]])

    def test_coroutines_take_turns(self) -> None:
        self.record("""
            import asyncio
            async def work(n):
                await asyncio.sleep(0)
                return n
            async def main():
                await asyncio.gather(work(1), work(2))
            asyncio.run(main())
        """)
        zones = [name for name in self.names() if name in ("work", "main")]
        self.assertEqual(sorted(zones), ["main", "main", "work", "work", "work", "work"])

    def test_functions_in_c_are_recorded(self) -> None:
        self.record("""
            def by(x): return -x
            sorted([2, 1], key=by)
            [].append(1)
            try: len(5)
            except TypeError: pass
            def after(): pass
            after()
        """)
        names = self.names()
        for name in ("sorted", "list.append", "len"):
            self.assertIn(name, names)
        self.assertEqual(self.trees(), [[["<module>", ["by"], ["by"], ["after"]]]])

    def test_threads_are_recorded(self) -> None:
        self.record("""
            import threading
            def leaf(): pass
            def work(): leaf()
            for _ in range(3):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
        """)
        trees = sorted(self.trees(), key=str)
        self.assertEqual(trees, [[["<module>"]]] + [[["work", ["leaf"]]]] * 3)

    def test_deep_recursion_is_recorded(self) -> None:
        self.record("""
            import sys
            sys.setrecursionlimit(5000)
            def down(n): return down(n - 1) if n else 0
            down(2000)
        """)
        self.assertEqual(self.names().count("down"), 2001)

    def test_methods_have_the_name_of_their_class(self) -> None:
        self.record("""
            class Model:
                def forward(self): pass
            Model().forward()
        """)
        self.assertTrue({"Model.forward", "forward"} & set(self.names()))

    def test_code_made_again_and_again_has_one_place(self) -> None:
        self.record("""
            for _ in range(200):
                exec(compile("def made(): pass\\nmade()", "made.py", "exec"))
        """)
        self.assertEqual(self.names().count("made"), 200)


class Partial(Recorded):
    def test_only_what_is_enabled_is_recorded(self) -> None:
        self.record("""
            from tracy import Profiler
            def before(): pass
            def child(): pass
            def under_test(): child()
            profiler = Profiler()
            before()
            profiler.enable()
            under_test()
            profiler.disable()
            before()
            with Profiler():
                child()
        """, "-p")
        self.assertEqual(self.trees(), [[["under_test", ["child"]], ["child"]]])

    def test_without_the_option_all_is_recorded_and_a_profiler_changes_nothing(self) -> None:
        self.record("""
            from tracy import Profiler
            def work(): pass
            profiler = Profiler()
            profiler.enable(); work(); profiler.disable(); work()
        """)
        self.assertEqual(self.trees(), [[["<module>", ["work"], ["work"]]]])

    def test_the_outer_of_two_profilers_counts(self) -> None:
        self.record("""
            from tracy import Profiler
            def work(): pass
            with Profiler():
                with Profiler():
                    work()
                work()
            work()
        """, "-p")
        self.assertEqual(self.trees(), [[["work"], ["work"]]])

    def test_enabling_inside_a_function_does_no_harm(self) -> None:
        self.record("""
            from tracy import Profiler
            profiler = Profiler()
            def child(): pass
            def work():
                profiler.enable()
                child()
            def rest(): profiler.disable()
            work(); rest(); child()
        """, "-p")
        self.assertEqual(self.trees(), [[["child"], ["rest"]]])


class Lines(Recorded):
    def test_each_line_is_a_zone_inside_its_function(self) -> None:
        self.record("""
            def work():
                a = 1
                b = a
                return b
            work()
        """, "-l")
        self.assertEqual([zone for zone in self.names() if zone.startswith("work:")], ["work:3", "work:4", "work:5"])

    def test_lines_with_partial(self) -> None:
        self.record("""
            from tracy import Profiler
            def child():
                return 1
            def work():
                child()
            p = Profiler()
            p.enable()
            work()
            p.disable()
        """, "-p", "-l")
        tree = self.trees()[0]
        work = next(node for node in _walk(tree) if node[0] == "work")
        self.assertEqual(work, ["work", ["work:6", ["child", ["child:4"]]]])


def _walk(nodes):
    for node in nodes:
        if isinstance(node, list):
            yield node
            yield from _walk(node)


class Running(Recorded):
    def test_the_script_finds_itself_as_if_run_alone(self) -> None:
        self.write("value = 7", "beside.py")
        self.record("""
            import sys, beside
            assert __name__ == "__main__" and sys.argv == [__file__], (sys.argv, __file__)
            assert sys.modules["__main__"].beside.value == 7
        """)

    def test_arguments_exit_codes_and_tracebacks_are_the_scripts(self) -> None:
        script = self.write("import sys; sys.exit(int(sys.argv[1]))")
        self.tracy(script, "5", code=5)
        done = self.tracy(self.write("def f(): raise KeyError('here')\nf()"), code=1)
        self.assertIn("KeyError: 'here'", done.stderr)
        self.assertNotIn("_run.py", done.stderr)

    def test_modules_are_run(self) -> None:
        self.write("def work(): pass\nwork()", "module.py")
        self.tracy("-m", "module")
        self.assertIn("work", self.names())

    def test_forked_processes_have_traces(self) -> None:
        self.record("""
            import os
            def child(): pass
            if os.fork() == 0:
                child()
                os._exit(0)
            os.wait()
        """)
        processes = self.folder / "generated/profiler/.logs/processes"
        self.assertEqual(len(list(processes.glob("*.tracy"))), 1)

    def test_processes_started_anew_have_traces(self) -> None:
        self.write("print('customized')", "sitecustomize.py")
        script = self.write("""
            import multiprocessing, subprocess, sys
            def child(n): return n
            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    assert pool.map(child, [1, 2]) == [1, 2]
                done = subprocess.run([sys.executable, "-c", "def other(): pass\\nother()"], stdout=subprocess.PIPE)
                assert done.stdout == b"customized\\n", done.stdout
        """)
        self.environment["PYTHONPATH"] += f":{self.folder}"
        self.tracy(script)
        processes = self.folder / "generated/profiler/.logs/processes"
        found = [self.command(STROBE, "export", trace).stdout for trace in processes.glob("*.tracy")]
        for name in ("child,", "other,"):
            self.assertTrue(any(f"\n{name}" in rows for rows in found), name)

    def test_python_behind_a_shell_is_recorded(self) -> None:
        script = self.write("def work(): pass\nwork()")
        self.tracy("sh", "-c", f"{PYTHON} {script}; true")
        self.assertIn("work", self.names())

    def test_folders_archives_and_compiled_scripts_are_run(self) -> None:
        folder = self.folder / "app"
        folder.mkdir()
        self.write("def work(): print(__name__)\nwork()", "app/__main__.py")
        done = self.command(PYTHON, "-c", "import py_compile, zipfile; py_compile.compile('app/__main__.py', 'app.pyc'); "
                            "zipfile.ZipFile('app.zip', 'w').write('app/__main__.py', '__main__.py')")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("app", "app.zip", "app.pyc"):
            with self.subTest(name=name):
                self.assertTrue(self.tracy(name).stdout.startswith("__main__\n"))
                self.assertIn("work", self.names())

    def test_a_profile_function_of_the_programs_own_is_left_alone(self) -> None:
        done = self.tracy(self.write("""
            import sys
            def before(): pass
            def work(): pass
            before()
            seen = []
            sys.setprofile(lambda frame, event, argument: seen.append(event))
            work()
            assert "call" in seen
        """))
        self.assertIn("before", self.names())
        if not NEW:
            self.assertIn("profile function of its own", done.stderr)
        else:
            self.assertIn("work", self.names())

    def test_without_a_recorder_nothing_happens(self) -> None:
        script = self.write("""
            import tracy
            tracy.signpost("a"); tracy.message("b"); tracy.plot("c", 1); tracy.frame_mark()
            with tracy.zone("d"), tracy.Profiler(): pass
            print(tracy.is_recording())
        """)
        self.environment["TRACY_PORT"] = "0"
        done = self.command(PYTHON, script)
        self.assertEqual((done.returncode, done.stdout), (0, "False\n"), done.stderr)


class ByHand(Recorded):
    def test_zones_messages_and_signposts(self) -> None:
        self.record("""
            import tracy
            @tracy.zone("decorated")
            def work(): pass
            with tracy.zone("load", 0xff0000) as zone:
                zone.text("model.bin")
            work()
            tracy.signpost("Run number 5", "after 5 warm-up runs")
            tracy.signpost(header="Run result post proc")
            tracy.message("plain", 0x00ff00)
            tracy.plot("loss", 0.5)
            tracy.plot("step", 3)
            tracy.frame_mark()
            tracy.frame_mark("batch")
        """, "-p")
        self.assertEqual(sorted((row["name"], row["src_line"]) for row in self.rows()), [("decorated", "3"), ("load", "5")])
        messages = "\n".join(self.messages())
        self.assertIn("`TT_SIGNPOST: Run number 5\nafter 5 warm-up runs`", messages)
        self.assertIn("`TT_SIGNPOST: Run result post proc`", messages)

    def test_what_gives_way_cannot_be_decorated(self) -> None:
        done = self.tracy(self.write("""
            import tracy
            @tracy.zone("no")
            async def work(): pass
        """), code=1)
        self.assertIn("TypeError: work gives way", done.stderr)


if __name__ == "__main__":
    unittest.main()
