import { expect, test } from "vitest";
import { linkedSession } from "./linked_session";

test.each([
  ["#session=5a0c6a9e-0000-4000-8000-000000000001", "5a0c6a9e-0000-4000-8000-000000000001"],
  ["#session=", null],
  ["#session=<script>", null],
  ["#link=abc", null],
  ["", null],
])("a fragment names a session or nothing: %s", (fragment, id) => {
  expect(linkedSession(fragment)).toBe(id);
});
