import { identifiersIn, linesIn, saidIn } from "./needles.ts";
import type { Rendered } from "./render.ts";
import type { Turn } from "./turns.ts";

/** A result, by its message and its place there. */
export interface Place {
  message: number;
  result: number;
}

/** Something that an answer says and that only results of its request say too. */
export interface Needle {
  text: string;
  sources: Place[];
}

interface Source extends Place {
  text: string;
}

/** For each turn: what its answer took from results, and from which. The same under every policy, so found once. */
export function findNeedles(rendered: readonly Rendered[], turns: readonly Turn[]): Needle[][] {
  const known = new Known();
  let read = 0;
  return turns.map(({ end, answerEnd }) => {
    for (; read < end; read++) known.add(rendered[read] as Rendered, read);
    const said = rendered
      .slice(end, answerEnd)
      .flatMap(({ outside }) => outside.map(saidIn))
      .join("\n");
    return known.needlesIn(said);
  });
}

class Known {
  readonly #outside: string[] = [];
  readonly #sources: Source[] = [];
  readonly #namesOutside = new Set<string>();
  readonly #named = new Map<string, Place[]>();

  add({ outside, results }: Rendered, message: number): void {
    const said = outside.map(saidIn).join("\n");
    this.#outside.push(said);
    for (const name of identifiersIn(said)) this.#namesOutside.add(name);
    for (const [result, text] of results.entries()) {
      const place = { message, result };
      this.#sources.push({ ...place, text });
      for (const name of identifiersIn(text)) {
        const places = this.#named.get(name);
        if (places === undefined) this.#named.set(name, [place]);
        else places.push(place);
      }
    }
  }

  needlesIn(said: string): Needle[] {
    const needles: Needle[] = [];
    for (const text of identifiersIn(said)) {
      const sources = this.#named.get(text);
      if (sources !== undefined && !this.#namesOutside.has(text)) needles.push({ text, sources: [...sources] });
    }
    for (const text of linesIn(said)) {
      const sources = this.#sources.filter((source) => source.text.includes(text));
      if (sources.length > 0 && !this.#outside.some((outside) => outside.includes(text)))
        needles.push({ text, sources });
    }
    return needles;
  }
}
