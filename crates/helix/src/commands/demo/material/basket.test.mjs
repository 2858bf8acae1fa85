import assert from "node:assert/strict";
import test from "node:test";
import { total } from "../basket.mjs";

test("an empty basket costs nothing", () => assert.equal(total([]), 0));
test("prices add up", () => assert.equal(total([["tea", 350, 1], ["cup", 900, 1]]), 1250));
test("quantities count", () => assert.equal(total([["tea", 350, 3]]), 1050));
