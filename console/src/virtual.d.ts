declare module 'virtual:rest-routes' {
  /** The REST route of each method of the API: [verb, path with {parameters}]. */
  export const routes: Record<string, [string, string] | undefined>;
}
