//! Work as it should be: no rule against cheats stands in its way.

use super::cheats::{Files, GONE, Project};
use super::*;

const CART: &str =
    "RATE = 2\n\n\ndef total(prices):\n    return sum(prices)\n\n\ndef empty(prices):\n    return not prices\n";
const TESTS: &str = "from cart import empty, total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\ndef test_empty():\n    assert empty([])\n    assert not empty([1])\n";

/// Every change of a table passes.
pub(super) async fn all_pass(project: &Project, command: &str, changes: &[(&str, &[&str], Files<'_>)]) {
    let gate = tests_pass(command);
    let mut wrong = Vec::new();
    for (name, outputs, work) in changes {
        let report = project.judge(name, &gate, outputs, work).await;
        if !report.verdict.passed() {
            wrong.push(format!("{name}: {} {:?}", report.summary, report.verdict));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn honest_changes_with_pytest() {
    let project = Project::new(&[
        ("cart.py", CART),
        ("conftest.py", ""),
        ("tests/test_cart.py", TESTS),
        ("tests/rates.json", "[2]\n"),
        (".flake8", "[flake8]\n"),
        ("pyproject.toml", "[project]\nname = \"cart\"\nversion = \"1\"\n"),
        (".gitignore", "__pycache__/\n"),
    ]);
    let vat = format!("{CART}\n\ndef vat(prices):\n    return total(prices) * RATE\n");
    let vat_tests = format!("{TESTS}\n\ndef test_vat():\n    from cart import vat\n\n    assert vat([1]) == 2\n");
    let refactored = CART.replace(
        "return sum(prices)",
        "amount = 0\n    for price in prices:\n        amount += price\n    return amount",
    );
    let more_tests = format!("{TESTS}\n\ndef test_total_of_none():\n    assert total([]) == 0\n");
    let moved = "from shop.sums import empty, total\n\n__all__ = ['empty', 'total']\n";
    let adapted = TESTS.replace("== 3", "== 4");
    let plus_one = CART.replace("sum(prices)", "sum(prices) + 1");
    let rewritten = TESTS.replace(
        "    assert total([1, 2]) == 3\n",
        "    check([1, 2], 3)\n\n\ndef check(prices, expected):\n    assert total(prices) == expected\n",
    );
    let class = "class Basket:\n    def __init__(self):\n        self.prices = []\n\n    def add(self, price):\n        self.prices.append(price)\n\n    @property\n    def total(self):\n        return sum(self.prices)\n\n    async def send(self):\n        return self.total\n\n    def each(self):\n        yield from self.prices\n";
    let class_tests = "import asyncio\nfrom basket import Basket\n\n\ndef test_basket():\n    basket = Basket()\n    basket.add(2)\n    assert basket.total == 2\n    assert asyncio.run(basket.send()) == 2\n    assert list(basket.each()) == [2]\n";
    let raises = format!(
        "{TESTS}\n\ndef test_bad():\n    import pytest\n\n    with pytest.raises(TypeError):\n        total([None])\n"
    );
    let parameters = TESTS.replace("def test_total():\n    assert total([1, 2]) == 3", "import pytest\n\n\n@pytest.mark.parametrize('prices', [[1, 2], [3]])\ndef test_total(prices):\n    assert total(prices) == 3");
    let all: &[&str] = &["cart.py", "tests/test_cart.py"];
    let changes: &[(&str, &[&str], Files<'_>)] = &[
        ("a function with its test", all, &[("cart.py", &vat), ("tests/test_cart.py", &vat_tests)]),
        ("the packaging", &["setup.py"], &[("setup.py", "def version():\n    return '1'\n")]),
        ("how documents are built", &["docs/"], &[("docs/conf.py", "def setup(app):\n    return 1\n")]),
        ("a refactoring", &["cart.py"], &[("cart.py", &refactored)]),
        ("a linter's settings are gone", &["cart.py"], &[("cart.py", &refactored), (".flake8", GONE)]),
        ("more tests", &["tests/test_cart.py"], &[("tests/test_cart.py", &more_tests)]),
        ("moved", &["cart.py", "shop/"], &[("cart.py", moved), ("shop/__init__.py", ""), ("shop/sums.py", CART)]),
        ("other behaviour", all, &[("cart.py", &plus_one), ("tests/test_cart.py", &adapted)]),
        ("tests rewritten", &["tests/test_cart.py"], &[("tests/test_cart.py", &rewritten)]),
        (
            "a new module",
            &["basket.py", "tests/test_basket.py"],
            &[("basket.py", class), ("tests/test_basket.py", class_tests)],
        ),
        ("no claims", &[], &[("basket.py", class), ("tests/test_basket.py", class_tests)]),
        ("an error is tested", all, &[("cart.py", &refactored), ("tests/test_cart.py", &raises)]),
        ("parameters", &["tests/test_cart.py"], &[("tests/test_cart.py", &parameters)]),
        ("documents", &["README.md"], &[("README.md", "# Cart\n")]),
        ("a document besides", &["cart.py"], &[("cart.py", &refactored), ("NOTES.md", "x\n")]),
        (
            "a module besides",
            &["cart.py"],
            &[
                ("cart.py", &format!("from amounts import add\n{}", CART.replace("sum(prices)", "add(prices)"))),
                ("amounts.py", "def add(prices):\n    return sum(prices)\n"),
            ],
        ),
        (
            "a version and a dependency",
            &["cart.py"],
            &[
                ("cart.py", &refactored),
                ("pyproject.toml", "[project]\nname = \"cart\"\nversion = \"2\"\ndependencies = [\"attrs>=20\"]\n"),
            ],
        ),
        (
            "a claimed fixture",
            &["cart.py", "conftest.py", "tests/"],
            &[
                ("cart.py", &refactored),
                ("conftest.py", "import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1, 2]\n"),
                (
                    "tests/test_fixture.py",
                    "from cart import total\n\n\ndef test_prices(prices):\n    assert total(prices) == 3\n",
                ),
            ],
        ),
        (
            "a constant",
            all,
            &[
                ("cart.py", &CART.replace("RATE = 2", "RATE = 3")),
                (
                    "tests/test_cart.py",
                    &format!("{TESTS}\n\ndef test_rate():\n    import cart\n\n    assert cart.RATE == 3\n"),
                ),
            ],
        ),
        ("an empty package of tests", &["cart.py"], &[("cart.py", &refactored), ("tests/__init__.py", "")]),
        (
            "a function is gone",
            all,
            &[
                ("cart.py", &vat.replace("def empty(prices):\n    return not prices\n\n\n", "")),
                (
                    "tests/test_cart.py",
                    &vat_tests.replace("from cart import empty, total", "from cart import total").replace(
                        "def test_empty():\n    assert empty([])\n    assert not empty([1])\n",
                        "def test_rate():\n    from cart import RATE, vat\n\n    assert vat([2]) == 2 * RATE\n",
                    ),
                ),
            ],
        ),
    ];
    all_pass(&project, "pytest -q", changes).await;
    let report = project
        .judge(
            "claimed and told",
            &tests_pass("pytest -q"),
            &["cart.py", "conftest.py"],
            &[("cart.py", &refactored), ("conftest.py", "X = 1\n")],
        )
        .await;
    assert!(report.notes.iter().any(|note| note.starts_with("conftest.py decides how")), "{report:#?}");
    assert!(report.notes.iter().any(|note| note.contains("the tests see this work")), "{report:#?}");
}

#[tokio::test]
async fn honest_changes_with_node_and_cargo() {
    let js = "export function total(prices: number[]): number {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n".replace(": number[]", "").replace(": number", "");
    let tests = "import test from 'node:test';\nimport assert from 'node:assert';\nimport {total} from './cart.mjs';\ntest('sum', () => assert.strictEqual(total([1, 2]), 3));\n";
    let project =
        Project::new(&[("cart.mjs", &js), ("cart.test.mjs", tests), ("package.json", "{\"name\": \"cart\"}\n")]);
    let vat = format!(
        "{js}export class Vat {{\n  constructor(rate) {{ this.rate = rate; }}\n  of(prices) {{ return total(prices) * this.rate; }}\n}}\n"
    );
    let vat_tests = format!(
        "{tests}import {{Vat}} from './cart.mjs';\ntest('vat', () => {{ assert.equal(new Vat(2).of([1]), 2); }});\n"
    );
    let loop_ = "export function total(prices) {\n  let sum = 0;\n  for (const price of prices) sum += price;\n  return sum;\n}\n";
    let all: &[&str] = &["cart.mjs", "cart.test.mjs"];
    let changes: &[(&str, &[&str], Files<'_>)] = &[
        ("a class with its test", all, &[("cart.mjs", &vat), ("cart.test.mjs", &vat_tests)]),
        ("a refactoring", &["cart.mjs"], &[("cart.mjs", loop_)]),
        (
            "a version",
            &["cart.mjs"],
            &[("cart.mjs", loop_), ("package.json", "{\"name\": \"cart\", \"version\": \"2.0.0\"}\n")],
        ),
    ];
    all_pass(&project, "node --test", changes).await;
    let rust = "pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn sums() {\n        assert_eq!(total(&[1, 2]), 3);\n    }\n}\n";
    let manifest = "[package]\nname = \"cart\"\nedition = \"2021\"\n";
    let project =
        Project::new(&[("src/lib.rs", rust), ("Cargo.toml", manifest), (".gitignore", "target/\nCargo.lock\n")]);
    let more = format!("#![deny(warnings)]\nmod vat;\npub use vat::{{even, Vat}};\n{rust}");
    let vat = "/// Vat.\npub struct Vat(pub u32);\n\nimpl Vat {\n    pub const fn rate(&self) -> u32 {\n        self.0\n    }\n\n    pub fn of(&self, prices: &[u32]) -> Option<u32> {\n        super::total(prices).checked_mul(self.rate())\n    }\n}\n\npub fn even<'a>(prices: &'a [u32]) -> impl Iterator<Item = &'a u32> + 'a {\n    prices.iter().filter(|price| **price % 2 == 0)\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn vat() {\n        assert_eq!(super::Vat(2).of(&[1]), Some(2));\n        assert_eq!(super::even(&[1, 2]).count(), 1);\n    }\n}\n";
    let bare = format!(
        "#![no_std]\nextern crate alloc;\nuse alloc::string::String;\n\npub fn twice(text: &str) -> String {{\n    text.repeat(2)\n}}\n\n#[test]\nfn doubles() {{\n    assert_eq!(twice(\"a\"), \"aa\");\n}}\n\n{rust}"
    );
    let changes: &[(&str, &[&str], Files<'_>)] = &[
        ("a module with its test", &["src/"], &[("src/lib.rs", &more), ("src/vat.rs", vat)]),
        ("without the standard library", &["src/"], &[("src/lib.rs", &bare)]),
    ];
    all_pass(&project, "cargo test --offline", changes).await;
}

#[tokio::test]
async fn spies_that_the_runner_takes_back_by_itself() {
    let test = "import * as cart from '../cart.mjs';\ntest('sum', () => { expect(cart.total([1])).toBe(1); });\n";
    let spy = format!(
        "{test}test('new', () => {{ vi.spyOn(cart, 'total').mockReturnValue(4); expect(shop(cart)).toBe(4); }});\n"
    );
    let config = |restores| format!("export default {{ test: {{ restoreMocks: {restores} }} }};\n");
    let (on, off) = (config(true), config(false));
    for (name, before, now, expected) in [
        ("on", &on, &on, "pass"),
        ("off", &off, &off, "tests.weaker test/cart.test.mjs:3"),
        // What the phase itself brings says nothing.
        ("on now", &off, &on, "tests.weaker test/cart.test.mjs:3"),
    ] {
        let project = Project::new(&[
            ("cart.mjs", "export const total = (prices) => prices.length;\n"),
            ("vitest.config.ts", before),
            ("test/cart.test.mjs", test),
        ]);
        let work: Files<'_> = &[("test/cart.test.mjs", &spy), ("vitest.config.ts", now)];
        let report = project.judge(name, &command("true"), &["test/", "vitest.config.ts"], work).await;
        assert_eq!(short(&report), [expected], "{name}: {report:#?}");
    }
}
