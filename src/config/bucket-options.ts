/** The bucket of `APP_ARTIFACTS_URL`. */
import { derived, option, optional } from "./option.ts";
import * as type from "./types.ts";

export const BUCKET_OPTIONS = {
  s3Endpoint: derived({
    name: "APP_S3_ENDPOINT",
    type: type.origin,
    otherwise: "Amazon's of `APP_S3_REGION`",
    about: "URL of the S3-compatible storage that has the bucket of `APP_ARTIFACTS_URL`.",
    example: "http://minio.internal:9000",
  }),
  s3Region: option({
    name: "APP_S3_REGION",
    type: type.key,
    default: "us-east-1",
    about: "Region of the bucket; most storages other than Amazon S3 accept any value.",
    example: "eu-central-1",
  }),
  s3AccessKeyId: optional({
    name: "APP_S3_ACCESS_KEY_ID",
    type: type.key,
    about: "Access key id; required with a bucket.",
    example: "AKIA…",
    secret: "whole",
  }),
  s3SecretAccessKey: optional({
    name: "APP_S3_SECRET_ACCESS_KEY",
    type: type.key,
    about: "Secret access key; required with a bucket.",
    example: "wJalr…",
    secret: "whole",
  }),
};
