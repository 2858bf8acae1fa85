# tools: pytest
# The same module; pytest judges.
: "${GATE:=python3 -m pytest -q}"
. "$(dirname "${BASH_SOURCE[0]}")/python-unittest.sh"
world() {
  python_shop
  cat > tests/test_prices.py <<'EOF'
import pytest
from src.prices import total


def test_sum():
    assert total([1.5, 2.25]) == 3.75


@pytest.mark.parametrize("discount, expected", [(25, 15), (50, 10), (100, 0)])
def test_discount(discount, expected):
    assert total([10, 10], discount) == expected


def test_empty():
    assert total([]) == 0
EOF
}
