export const ERROR_LINE: string;
export function buildOutput(): string;
