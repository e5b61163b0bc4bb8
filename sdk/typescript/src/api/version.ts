/** The SDK's version. The build puts the version of package.json in its place. */
export const sdkVersion = '0.0.0';

/** The version of the API that this SDK is written for, sent as the header Parlance-Version. */
export const apiVersion = '2026-11-28';
