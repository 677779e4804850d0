"""Makes one environment a peer in ``.peers``: ``python -m bench.install [PEER …]``.

What cannot be installed is said, and left out of the run. vLLM is installed without what only a GPU needs.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".peers"

# vLLM's parsers import much of the package, but nothing that runs on a device.
_VLLM = (
    "aiohttp anthropic blake3 cachetools cbor2 cloudpickle compressed-tensors depyf einops fastapi "
    "filelock gguf ijson jsonschema lark llguidance lm-format-enforcer mcp mistral_common[image] "
    "msgspec ninja numba numpy openai opencv-python-headless opentelemetry-api opentelemetry-sdk oss-harmony "
    "outlines_core packaging partial-json-parser pillow prometheus-fastapi-instrumentator "
    "prometheus_client protobuf psutil py-cpuinfo pybase64 pydantic python-json-logger pyyaml pyzmq "
    "regex requests sentencepiece setproctitle six tiktoken tokenizers tqdm transformers>=5.16.1,<5.20 "
    "typing_extensions uvloop watchfiles xgrammar "
)

PEERS: dict[str, list[list[str]]] = {
    "agent_tool_parser": [["agent-tool-parser==0.1.3"]],
    "beacon": [["llm-beacon==0.1.0"]],
    "renderers": [["renderers==0.1.12", "httpx"]],
    "transformers": [["transformers>=5.16.1,<5.20"]],
    "llm_router_utils": [["llm-router-utils==0.8.1"]],
    "vllm": [["torch==2.13.0"], ["--no-deps", "vllm==0.33.0"], _VLLM.split()],
}


def install(name: str) -> str | None:
    """Install one peer; what went wrong, if anything did."""
    folder = FOLDER / name
    if (folder / "installed").exists():
        return None
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for packages in PEERS[name]:
        done = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1]
    (folder / "installed").touch()
    return None


def main() -> int:
    """The command."""
    faults = {name: install(name) for name in sys.argv[1:] or PEERS}
    for name, fault in faults.items():
        print(f"{name}: {fault or 'installed'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
