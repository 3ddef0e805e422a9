#!/usr/bin/env bash
# Build the wheel, install it in a new environment outside the checkout, and use it there as a
# reader of the README would: its first ```python block has to run with the wheel alone.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
python="$root/.venv/bin/python"
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
unset PYTHONPATH
export PIP_CONSTRAINT="$root/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1
pip_quiet=(-m pip --quiet)

echo "Building the wheel ..."
"$python" "${pip_quiet[@]}" wheel --no-deps --wheel-dir "$elsewhere/dist" "$root"
wheel=$(ls "$elsewhere"/dist/diffmicro-*.whl)

"$python" - "$wheel" "$root/README.md" "$elsewhere/example.py" <<'PYTHON'
import pathlib, re, sys, zipfile

wheel, readme, example = sys.argv[1:]
names = zipfile.ZipFile(wheel).namelist()
strange = [n for n in names if not re.match(r"diffmicro/|diffmicro-[^/]+\.dist-info/", n)]
if strange:
    sys.exit(f"files in the wheel that are not under diffmicro/: {strange}")
page = {path.name for path in pathlib.Path(readme).parent.glob("diffmicro/explore/page/*")}
if not page or not {f"diffmicro/explore/page/{name}" for name in page} <= set(names):
    sys.exit("the wheel has not all files of the page of diffmicro explore")
block = re.search(r"^```python\n(.*?)^```", pathlib.Path(readme).read_text(), re.S | re.M)
if not block:
    sys.exit("README.md has no ```python block to run")
pathlib.Path(example).write_text(block[1])
print(f"{pathlib.Path(wheel).name}: {len(names)} files, all under diffmicro/")
PYTHON

echo "Installing it in a new environment ..."
"$python" -m venv "$elsewhere/venv"
"$elsewhere/venv/bin/python" "${pip_quiet[@]}" install "$wheel"
cd "$elsewhere"
"$elsewhere/venv/bin/diffmicro" --help >/dev/null
echo "Running the README's example:"
"$elsewhere/venv/bin/python" example.py
echo "The wheel works outside the checkout."
