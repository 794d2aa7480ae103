import { create } from "zustand";

const MINUTE = 60_000;

/** The number of the current minute: what says how long ago something was is drawn again when it changes. */
export const useMinute = create(() => Math.floor(Date.now() / MINUTE));
setInterval(() => useMinute.setState(Math.floor(Date.now() / MINUTE), true), 10_000);
