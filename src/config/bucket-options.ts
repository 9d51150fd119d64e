/** The bucket of `APP_ARTIFACTS_URL`. */
import { derived, option, optional } from "./option.ts";
import * as type from "./types.ts";

export const BUCKET_OPTIONS = {
  s3Endpoint: derived({
    name: "APP_S3_ENDPOINT",
    type: type.origin,
    otherwise: "Amazon's of `APP_S3_REGION`",
    about: "Where the bucket of `APP_ARTIFACTS_URL` is: the address of an S3-compatible storage.",
    example: "http://minio.internal:9000",
  }),
  s3Region: option({
    name: "APP_S3_REGION",
    type: type.key,
    default: "us-east-1",
    about: "Region of that bucket; most storages but Amazon's take any.",
    example: "eu-central-1",
  }),
  s3AccessKeyId: optional({
    name: "APP_S3_ACCESS_KEY_ID",
    type: type.key,
    about: "Who asks that storage; needed with a bucket.",
    example: "AKIA…",
    secret: "whole",
  }),
  s3SecretAccessKey: optional({
    name: "APP_S3_SECRET_ACCESS_KEY",
    type: type.key,
    about: "Secret of that key; needed with a bucket.",
    example: "wJalr…",
    secret: "whole",
  }),
};
