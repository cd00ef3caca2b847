#!/usr/bin/env bash
# Records the runs of this folder again: `make recordings`. README.md describes them.
set -euo pipefail
cd "$(dirname "$0")"
export PATH="$PWD/../../.venv/bin:$PATH"
rm -rf eager compiled two_ranks
capture run --profile-with-stack --profile-record-shapes --profile-memory --out eager -- program.py
TORCHINDUCTOR_FX_GRAPH_CACHE=0 capture run --out compiled -- program.py --compile
capture run --out two_ranks -- torchrun --nproc-per-node 2 program.py
for file in */*.gz; do
    gunzip "$file"
    gzip -9n "${file%.gz}"
done
