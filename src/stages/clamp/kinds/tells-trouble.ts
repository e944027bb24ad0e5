const TROUBLE =
  /\bUNMET\b|\bERR!|(?:^| )(?:[\w.]*[Ee]rror|ERROR|fatal|panic|invalid|extraneous|missing): |: (?:Permission denied|No such file or directory|Input\/output error|Is a directory)$|^(?:FAIL|ERROR|FAILED) |\b\d+ failed\b/;

/** True of a line in which the one that lists or searches says what is amiss, rather than what it found. */
export function tellsTrouble(line: string): boolean {
  return TROUBLE.test(line);
}
