# The whole product in one image: `serve` and `worker` are two commands of it. What is needed to build it, npm's cache and the
# lock file stay behind in the first stages.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24-bookworm-slim AS built
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY bin ./bin
COPY scripts ./scripts
COPY src ./src
COPY web ./web
COPY tsconfig.json ./
RUN node scripts/build.mjs

FROM node:24-bookworm-slim
# tini hands signals on and reaps what browsers leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates chromium-headless-shell fonts-liberation tini \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o 1000 -g 1000 /var/lib/orb
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY --from=built /app/dist ./dist
COPY deploy/probe.mjs ./deploy/probe.mjs
ENV NODE_ENV=production \
  APP_DATA_DIR=/var/lib/orb \
  APP_DATABASE_URL=sqlite:/var/lib/orb/orb.db
# By number, so that Kubernetes can tell that it is not root.
USER 1000:1000
VOLUME /var/lib/orb
EXPOSE 8000
# Only `serve` listens: where the image runs as a worker, switch this off, as compose.yaml does.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "/app/deploy/probe.mjs", "/health"]
ENTRYPOINT ["tini", "--", "/app/bin/orb"]
# Refuses to start without APP_API_TOKEN, because others can reach it.
CMD ["serve", "--host", "0.0.0.0"]
