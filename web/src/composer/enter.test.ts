import { expect, test } from "vitest";
import { enterAction } from "./enter";

const running = (inputWhileRunning?: "queue" | "steer" | "stop" | "ignore") => ({ status: "running" as const, inputWhileRunning });

test("X-08 B-24: Enter while a session works does what the session says; Ctrl-Enter is the other way", () => {
  expect([undefined, "queue", "steer", "stop", "ignore"].map((each) => enterAction(running(each as "queue"), false))).toEqual([
    "queue",
    "queue",
    "steer",
    "stop",
    "nothing",
  ]);
  expect(["queue", "steer", "stop", "ignore"].map((each) => enterAction(running(each as "queue"), true))).toEqual([
    "steer",
    "queue",
    "queue",
    "nothing",
  ]);
  expect(enterAction({ status: "idle", inputWhileRunning: "stop" }, false)).toBe("send");
});
