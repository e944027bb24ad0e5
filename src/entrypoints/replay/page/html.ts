/** Text made safe for a page. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** A whole number with its thousands apart. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A number in few characters: 950, 12.5k, 3.4M. */
export function short(value: number): string {
  const [unit, sign] = value >= 999_950 ? [1e6, "M"] : value >= 1000 ? [1000, "k"] : [1, ""];
  return `${Math.round((value / unit) * 10) / 10}${sign}`;
}

/** A share in percent. */
export function percent(share: number | null, digits = 1): string {
  return share === null ? "-" : `${(share * 100).toFixed(digits)} %`;
}
