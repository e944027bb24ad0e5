import { useEffect, useRef } from "react";

/** What a key does. */
export interface Key {
  /** As `KeyboardEvent.key` names it. */
  key: string;
  does: string;
  run: () => void;
}

/** The keys that work now, those of the last part that was shown first. */
const active: (() => readonly Key[])[] = [];

/** All keys that work now, for the list of them. */
export function activeKeys(): readonly Key[] {
  return active.flatMap((keys) => keys());
}

/** Gives a part keys while it is shown. Nothing is taken from somebody who types. */
export function useKeys(keys: readonly Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const own = () => latest.current;
    const pressed = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof Element && target.closest("input, textarea, select, dialog") && key !== "Escape") return;
      const found = latest.current.find((each) => each.key === key);
      if (found === undefined) return;
      event.preventDefault();
      found.run();
    };
    active.push(own);
    window.addEventListener("keydown", pressed);
    return () => {
      active.splice(active.indexOf(own), 1);
      window.removeEventListener("keydown", pressed);
    };
  }, []);
}
