/**
 * Loads a package when the program runs. Bundlers see neither its name nor its files: a native module does not work from
 * inside a bundle, and an optional package must not be missed by those who never install it.
 */
export async function loadPackage<Package>(name: string): Promise<Package> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);
}
