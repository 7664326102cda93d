"""lit's configuration: the programs beside this interpreter, and FileCheck from PyPI's `filecheck`.

lit -v tests/lit        # in an environment where fissile is installed
"""

import os
import shutil
import sys
from pathlib import Path

import lit.formats

from fissile.dialect import irdl_file
from fissile.passes.iree.version import installed, release

config.name = "fissile"  # noqa: F821  (lit provides `config`)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821
output = Path(__file__).parent / "Output"
config.test_exec_root = os.environ.get("FISSILE_LIT_OUTPUT", str(output))  # noqa: F821

# The interpreter that runs lit has the programs beside it, whether its environment is activated or not.
programs = str(Path(sys.executable).parent)
if "FISSILE_LIT_PROGRAMS" in os.environ:  # test_lit.py: the same programs, forked
    programs = os.environ["FISSILE_LIT_PROGRAMS"] + os.pathsep + programs
config.environment["PATH"] = programs + os.pathsep + os.environ.get("PATH", "")  # noqa: F821
config.environment["FISSILE_CACHE"] = "off"  # noqa: F821
config.environment["LC_ALL"] = "C.UTF-8"  # noqa: F821

for program in ("fissile-opt", "iree-opt", "filecheck"):
    if shutil.which(program, path=config.environment["PATH"]) is None:  # noqa: F821
        missing = f"{program} is not installed beside {sys.executable}: pip install 'fissile[test]'"
        lit_config.fatal(missing)  # noqa: F821

config.available_features.add(f"iree-{release(installed())}")  # noqa: F821
config.substitutions += [  # noqa: F821
    (r"\bFileCheck\b", "filecheck"),
    ("%irdl", str(irdl_file())),
]
