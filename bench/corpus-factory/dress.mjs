// What CI systems put around a tool's output: times and tasks before each line, the steps before it, and much housekeeping
// behind it. The texts are real listings of this machine, the same for the run with the fault and the run without it.
import { spawnSync } from "node:child_process";

const sh = (command) =>
  spawnSync("sh", ["-c", command], { maxBuffer: 1 << 26 })
    .stdout.toString()
    .split("\n")
    .slice(0, -1);

let listings;
/** Real listings: installed packages, files that an archive gets, headers. */
function housekeeping() {
  listings ??= {
    install: sh(
      "dpkg-query -W -f 'Unpacking ${Package} (${Version}) ...\\nSetting up ${Package} (${Version}) ...\\n' 2>/dev/null | head -700",
    ),
    archive: sh("find /usr/share -type f -printf 'a %p (%s bytes)\\n' 2>/dev/null | sort | head -6000"),
    fetch: sh(
      "dpkg-query -W -f 'Get:1 http://mirror.example.com/debian stable/main amd64 ${Package} amd64 ${Version} [${Installed-Size} kB]\\n' 2>/dev/null | head -500",
    ),
  };
  return listings;
}

const two = (value) => String(value).padStart(2, "0");
function clock(line, seed) {
  const seconds = Math.floor(line / 7) + seed * 61;
  return {
    time: `${two(9 + (Math.floor(seconds / 3600) % 12))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`,
    part: (line * 137 + seed) % 1000,
  };
}

const DRESSES = [
  { name: "plain", prefix: () => "", head: 0, tail: 0 },
  {
    name: "task",
    prefix: ({ time, part }) => `[task 2024-05-01T${time}.${String(part).padStart(3, "0")}Z] ${time}     INFO -  `,
    head: 200,
    tail: 5000,
  },
  {
    name: "actions",
    prefix: ({ time, part }) =>
      `2024-05-01T${time}.${String(part * 9973)
        .padStart(7, "0")
        .slice(0, 7)}Z `,
    head: 600,
    tail: 300,
    start: "##[group]Run",
    end: ["##[error]Process completed with exit code 1.", "Post job cleanup."],
  },
  { name: "console", prefix: () => "", head: 900, tail: 40, start: "+" },
  {
    name: "stamped",
    prefix: ({ time }) => `[2024-05-01T${time}.000Z] `,
    head: 100,
    tail: 900,
    start: "[Pipeline] sh\n+",
  },
  { name: "container", prefix: ({ time }) => `build-1  | ${time} `, head: 50, tail: 60 },
];
/** How many ways there are to dress an output. */
export const DRESS_COUNT = DRESSES.length;

/** A tool's output as a CI system would have logged it. `failed` says how the step ended. */
export function dress(output, { which, command, seed, failed }) {
  const { name, prefix, head, tail, start, end = [] } = DRESSES[which % DRESSES.length];
  if (name === "plain") return output;
  const { install, archive, fetch } = housekeeping();
  const lines = [
    ...fetch.slice(0, head >> 1),
    ...install.slice(seed * 7, seed * 7 + (head >> 1)),
    ...(start === undefined ? [] : `${start} ${command}`.split("\n")),
    ...output.toString("latin1").replace(/\n$/, "").split("\n"),
    ...(failed ? end.slice(0, 1) : []),
    ...end.slice(1),
    ...archive.slice(seed * 13, seed * 13 + tail),
  ];
  return Buffer.from(lines.map((line, at) => prefix(clock(at, seed)) + line).join("\n"), "latin1");
}
