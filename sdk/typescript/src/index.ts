// The package's public names. What is not used costs a page nothing.
export * from './session/index.js';
export {
  type ConnectedSession,
  type Knowledge,
  Parlance,
  type ParlanceOptions,
  type Sessions,
} from './api/client.js';
export { type FieldError, isReason, type LocalReason, ParlanceError, type Reason } from './api/errors.js';
export { toJson } from './api/json.js';
export { all, type ItemOf } from './api/pages.js';
export type { Retries } from './api/retry.js';
export type { FileToUpload, UploadOptions } from './api/upload.js';
export { apiVersion, sdkVersion } from './api/version.js';
export * as webhooks from './webhooks/index.js';
