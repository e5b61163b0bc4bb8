// The package's public names.
export * from './session/index.js';
