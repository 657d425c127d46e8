#!/bin/sh
# Classify 500 handwritten digits by the nearest of 1297 known ones, with
# compiled code, and count the right answers: demo.sh [path to tenon]
set -e
tenon=$(realpath "${1:-bin/tenon}")
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$tenon" run knn.tn --in train='digits_x.npy[:1297,:]' --in labels='digits_y.npy[:1297]' \
  --in x='digits_x.npy[1297:,:]' --out "$out/y.npy"
right=$("$tenon" run score.tn --in got="$out/y.npy" --in want='digits_y.npy[1297:]')
total=$("$tenon" run score.tn --in got='digits_y.npy[1297:]' --in want='digits_y.npy[1297:]')
echo "$right of $total right"
