"""Makes a Python wheel that carries an executable: wheel.py EXECUTABLE VERSION PLATFORM README DIRECTORY"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

executable, version, platform, readme, directory = sys.argv[1:]
name = f"helix_cli-{version}"
metadata = f"""Metadata-Version: 2.1
Name: helix-cli
Version: {version}
Summary: Turns a conversation into verified software by driving coding agents
License: Apache-2.0
Description-Content-Type: text/markdown

{Path(readme).read_text()}"""
tags = "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))
wheel = f"Wheel-Version: 1.0\nGenerator: helix\nRoot-Is-Purelib: false\n{tags}"
files = {
    f"{name}.data/scripts/helix": Path(executable).read_bytes(),
    f"{name}.dist-info/METADATA": metadata.encode(),
    f"{name}.dist-info/WHEEL": wheel.encode(),
}
record = ""
for path, content in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record += f"{path},sha256={digest},{len(content)}\n"
files[f"{name}.dist-info/RECORD"] = f"{record}{name}.dist-info/RECORD,,\n".encode()

target = Path(directory) / f"{name}-py3-none-{platform}.whl"
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
    for path, content in files.items():
        # The same wheel from the same executable, whenever it is made.
        entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
        archive.writestr(entry, content)
print(target)
