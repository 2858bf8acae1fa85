# The same module; its tests compare amounts as another module of the product rounds them.
. "$(dirname "${BASH_SOURCE[0]}")/python-unittest.sh"
world() {
  python_shop
  printf 'def cents(amount):\n    """The amount in whole cents."""\n    return round(amount * 100)\n' > src/money.py
  cat > tests/test_prices.py <<'EOF'
import unittest
from src.money import cents
from src.prices import total


class Prices(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(cents(total([1.5, 2.25])), cents(3.75))

    def test_discount(self):
        self.assertEqual(cents(total([10, 10], 25)), cents(15))

    def test_empty(self):
        self.assertEqual(cents(total([])), cents(0))
EOF
}
