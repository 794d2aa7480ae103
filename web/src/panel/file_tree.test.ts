import { expect, test } from "vitest";
import { matching, treeOf } from "./file_tree";

test("a tree has folders first, also those without a line of their own", () => {
  const tree = treeOf(["b.txt", "src/", "src/web/page.ts", "a.txt"]);

  expect(tree.map((each) => each.path)).toEqual(["src", "a.txt", "b.txt"]);
  expect(tree[0]!.children![0]).toEqual({
    name: "web",
    path: "src/web",
    children: [{ name: "page.ts", path: "src/web/page.ts", children: null }],
  });
});

test("what is typed finds names before paths, and paths before letters in order", () => {
  const paths = ["src/", "src/cart.py", "tests/test_cart.py", "cart/other.txt", "cacti/art.md"];

  expect(matching(paths, "cart", 9)).toEqual(["src/cart.py", "tests/test_cart.py", "cart/other.txt", "cacti/art.md"]);
  expect(matching(paths, "", 9)).toEqual(["src/"]);
  expect(matching(paths, "cart", 1)).toEqual(["src/cart.py"]);
});
