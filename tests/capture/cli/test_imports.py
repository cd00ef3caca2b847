"""Imports: capture does not import the store, and imports torch only on first use."""

LOADED = """
import importlib
importlib.import_module(sys.argv[1])
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_importing_capture_imports_nothing_heavy(run_python):
    loaded = run_python(LOADED, "capture").stdout.split()

    assert "capture" in loaded
    assert not {"torch", "duckdb", "streamlit"} & set(loaded)


def test_the_command_line_imports_neither_store_nor_torch(run_python):
    loaded = run_python(LOADED, "capture.cli.main").stdout.split()

    assert "argparse" in loaded
    assert not {"torch", "diffusers", "duckdb", "streamlit"} & set(loaded)


def test_help_works_without_the_extra(run_capture):
    finished = run_capture("flux", "--help", absent=("torch", "diffusers", "transformers"))

    assert finished.returncode == 0
    assert "--tiny" in finished.stdout
