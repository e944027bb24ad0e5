import { InvalidArgumentError } from "commander";

/** Reads a flag's whole number of 0 or more (`signed`: or less). */
export function wholeNumber(flag: string, signed = false): (text: string) => number {
  return (text) => {
    if ((signed ? /^-?\d{1,15}$/ : /^\d{1,15}$/).test(text)) return Number(text);
    throw new InvalidArgumentError(
      `${flag} takes a whole number${signed ? "" : " of 0 or more"}, such as ${signed ? "1" : "200"}.`,
    );
  };
}
