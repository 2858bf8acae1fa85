# tools: pytest
# The same module, with a decision whose criteria name tests.
. "$(dirname "${BASH_SOURCE[0]}")/python-pytest.sh"
eval "pytest_$(declare -f world)"
world() {
  pytest_world
  mkdir -p adr
  cat > adr/001-prices.md <<'EOF'
---
adr_id: "001"
title: Totals
status: Accepted
component_type: TOOL
classification: UPDATE
change_scope: minor
files: { modify: [src/prices.py] }
---
# Totals

## Context
Totals are slow.

## Decision
They are computed another way, in `src/prices.py`.

## Acceptance criteria
- [ ] Totals add up — test: `tests/test_prices.py::test_sum`
- [ ] Discounts count — test: `tests/test_prices.py::test_discount`
- [ ] Nothing costs nothing — test: `tests/test_prices.py::test_empty`
EOF
}
