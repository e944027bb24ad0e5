import { expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";

it.each([
  ["what SPILLWAY_DIR says", { SPILLWAY_DIR: "/data/x", XDG_DATA_HOME: "/xdg" }, "linux", "/data/x"],
  ["XDG_DATA_HOME", { XDG_DATA_HOME: "/xdg" }, "linux", "/xdg/spillway"],
  [
    "the XDG default, where the variable is not absolute",
    { XDG_DATA_HOME: "xdg" },
    "linux",
    "/home/u/.local/share/spillway",
  ],
  ["the XDG default", { SPILLWAY_DIR: "" }, "freebsd", "/home/u/.local/share/spillway"],
  ["the Mac's own", { XDG_DATA_HOME: "/xdg" }, "darwin", "/home/u/Library/Application Support/spillway"],
  ["LOCALAPPDATA", { LOCALAPPDATA: "C:\\Users\\u\\Local" }, "win32", "C:\\Users\\u\\Local\\spillway"],
] as const)("is %s", (_name, env, platform, folder) => {
  expect(dataFolder({ env, platform, home: "/home/u" })).toBe(folder);
});
