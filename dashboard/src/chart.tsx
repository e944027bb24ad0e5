import { type ReactNode, useEffect, useRef } from "react";
import UPlot from "uplot";
import { axisText, exact } from "./amounts.ts";
import { ChartOrTable, type Column, Table } from "./parts.tsx";

/** One layer of a stacked chart. */
export interface Layer {
  name: string;
  /** A variable of the style sheet. */
  color: string;
  values: number[];
}

/** Amounts over time, one on top of another. What is pointed at stands in the legend, and a table has all of it. */
export function StackedChart({ title, times, layers }: { title: string; times: number[]; layers: Layer[] }): ReactNode {
  const chart = <Bars title={title} times={times} layers={layers} />;
  return <ChartOrTable title={title} chart={chart} table={<ChartTable times={times} layers={layers} />} />;
}

function Bars({ title, times, layers }: { title: string; times: number[]; layers: Layer[] }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let chart: UPlot | null = null;
    const draw = () => {
      chart?.destroy();
      chart = new UPlot(optionsFor(element, layers), stacked(times, layers), element);
    };
    draw();
    const resized = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themes.disconnect();
      chart?.destroy();
    };
  }, [times, layers]);
  return <div ref={box} className="chart" role="img" aria-label={`${title}. The table has every figure.`} />;
}

const HEIGHT = 240;

/** Each layer on top of those before it; the topmost is drawn first. */
function stacked(times: number[], layers: Layer[]): UPlot.AlignedData {
  const sums = layers.map((_layer, upTo) =>
    // Where nothing is, no bar is drawn.
    times.map(
      (_time, at) =>
        layers.slice(0, upTo + 1).reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0) || null,
    ),
  );
  return [times.map((ms) => ms / 1000), ...sums.toReversed()];
}

function optionsFor(element: HTMLElement, layers: Layer[]): UPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: style.color,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui",
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, 40, 0, 0],
    // A bar stands for the hour that begins where it does.
    scales: {
      x: { range: (_chart, min, max) => [min, max + 3600] },
      y: { range: (_chart, _min, max) => [0, Math.max(1, max * 1.05)] },
    },
    axes: [
      { ...axis, space: 90, size: 28, values: timeLabels },
      { ...axis, size: 56, values: (_chart, ticks) => ticks.map(axisText) },
    ],
    legend: { live: true },
    series: [
      {
        label: "Hour",
        value: (_chart, seconds) => (seconds === null ? "all" : hourText(seconds * 1000)),
      },
      ...layers.toReversed().map(
        ({ name, color: variable, values }): UPlot.Series => ({
          label: name,
          stroke: resolved(element, variable),
          fill: resolved(element, variable),
          width: 1,
          ...(UPlot.paths.bars && { paths: UPlot.paths.bars({ size: [0.85, 60], align: 1 }) }),
          points: { show: false },
          // All of it where no hour is pointed at.
          value: (_chart, _sum, _series, at) =>
            exact(at === null ? values.reduce((sum, each) => sum + each, 0) : (values[at] ?? 0)),
        }),
      ),
    ],
  };
}

/** Hours by the reader's own clock; at midnight, and where days are far apart, the day. */
function timeLabels(_chart: UPlot, seconds: number[]): string[] {
  return seconds.map((each) => {
    const time = new Date(each * 1000);
    return time.getHours() === 0
      ? time.toLocaleDateString(undefined, { day: "numeric", month: "short" })
      : time.toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });
  });
}

const hourText = (ms: number) => new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The colour that a variable stands for here: a canvas knows no light-dark(). */
function resolved(element: HTMLElement, variable: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${variable})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function ChartTable({ times, layers }: { times: number[]; layers: Layer[] }): ReactNode {
  const columns: Column<number>[] = [
    {
      head: "Hour",
      kind: "heading",
      cell: hourText,
    },
    ...layers.map(
      ({ name, values }): Column<number> => ({ head: name, kind: "right", cell: (_ms, at) => exact(values[at] ?? 0) }),
    ),
  ];
  return (
    <Table label="The figures of the chart" className="scroll" columns={columns} rows={times} keyOf={(ms) => ms} />
  );
}

/** A small line of how a figure went. Its figure stands beside it. */
export function Sparkline({ values }: { values: readonly number[] }): ReactNode {
  const most = Math.max(1, ...values);
  const points = values.map(
    (value, at) => `${(at / Math.max(1, values.length - 1)) * 100},${22 - (Math.max(0, value) / most) * 20}`,
  );
  return (
    <svg className="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {values.length > 1 && <polyline points={points.join(" ")} />}
    </svg>
  );
}
