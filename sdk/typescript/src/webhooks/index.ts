// Receiving webhooks.
export { verify, type VerifyOptions, WebhookError, type WebhookFailure, type WebhookHeaders } from './verify.js';
export type { Event } from '../gen/webhooks_pb.js';
