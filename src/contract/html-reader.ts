/** Makes readable text of a web page. */
export interface HtmlReader {
  /** Gives up, by throwing, once `signal` is aborted; lets others work in between. The same page gives the same text. */
  read(html: string, signal: AbortSignal): Promise<string>;
}
