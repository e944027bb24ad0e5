import { type ReactNode, useEffect, useRef } from "react";
import type { Stretch } from "./stretches.ts";
import type { Seen } from "./text-view.tsx";

interface MinimapProps {
  lines: number;
  stretches: readonly Stretch[];
  hits: readonly number[];
  seen: Seen;
  goTo: (line: number) => void;
}

/** All of a text in one strip: what was shown, what was not, what was found, and where the reader is. For the pointer only: keys do the same. */
export function Minimap({ lines, stretches, hits, seen, goTo }: MinimapProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const draw = () => paint(element, { lines, stretches, hits });
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      watch.disconnect();
      themes.disconnect();
      scheme.removeEventListener("change", draw);
    };
  }, [lines, stretches, hits]);
  const total = Math.max(1, lines);
  const jump = (clientY: number, element: HTMLElement) => {
    const { top, height } = element.getBoundingClientRect();
    goTo(Math.round(((clientY - top) / height) * total));
  };
  return (
    <div
      className="minimap"
      aria-hidden="true"
      title="The whole output: solid was shown to the model, hatched was not"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        jump(event.clientY, event.currentTarget);
      }}
      onPointerMove={(event) => event.buttons === 1 && jump(event.clientY, event.currentTarget)}
    >
      <canvas ref={canvas} />
      <span
        className="minimap-seen"
        style={{ top: `${((seen.from - 1) / total) * 100}%`, height: `${((seen.to - seen.from + 1) / total) * 100}%` }}
      />
    </div>
  );
}

function paint(
  canvas: HTMLCanvasElement,
  { lines, stretches, hits }: Pick<MinimapProps, "lines" | "stretches" | "hits">,
): void {
  const scale = devicePixelRatio;
  const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale];
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  if (pen === null || height === 0) return;
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(name);
  const y = (line: number) => ((line - 1) / Math.max(1, lines)) * height;
  // A single line of a million must be seen too, the last one as well.
  const mark = (x: number, from: number, to: number, least: number) => {
    const high = Math.max(least * scale, y(to + 1) - y(from));
    pen.fillRect(x, Math.min(y(from), height - high), width - x, high);
  };
  pen.fillStyle = color("--cut-back");
  pen.fillRect(0, 0, width, height);
  pen.strokeStyle = color("--cut-hatch");
  pen.lineWidth = scale;
  for (let at = -width; at < height; at += 6 * scale) {
    pen.beginPath();
    pen.moveTo(0, at + width);
    pen.lineTo(width, at);
    pen.stroke();
  }
  pen.fillStyle = color("--accent");
  for (const { isShown, from, to } of stretches) if (isShown) mark(0, from, to, 2);
  pen.fillStyle = color("--found");
  for (const line of hits) mark(width * 0.55, line, line, 3);
}
