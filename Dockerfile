# The image: what `npm run build` makes, the few packages that stay outside it, and the base's Node. Any base with Node 24,
# npm and a shell will do; nothing of the base but Node is used at run time. A release names it by digest (RELEASING.md).
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY src/package.json ./src/
RUN npm ci --ignore-scripts --no-audit --prefer-offline
COPY bin/hand-over.cjs ./bin/
COPY build ./build
COPY src ./src
RUN npm run build && chmod 755 dist/main.js

# `npm sbom` with --omit=dev would leave out what development uses too, so it is shown a package without development. The parts
# of the program hold most of the packages that it lists; the others stay, without SQLite's source and the addons of other
# platforms.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY src/package.json ./src/
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --prefer-offline \
 && npm pkg delete devDependencies optionalDependencies \
 && npm sbom --sbom-format=cyclonedx > sbom.cdx.json
COPY --from=build /app/dist/package.json ./
RUN npm prune --ignore-scripts --no-audit --offline \
 && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
 && find node_modules/*/prebuilds -mindepth 1 -maxdepth 1 ! -name "linux*-$(node -p process.arch)*" -exec rm -rf {} + \
 && find node_modules -name '*.map' -type f -exec rm {} + \
 && mkdir -p /files/data /files/usr/local/bin \
 && chown 10001:10001 /files/data \
 && ln -s /app/dist/main.js /files/usr/local/bin/postern

FROM ${NODE_IMAGE}
# Node's package managers: nothing here calls them, and what is found in them would have to be judged.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* \
 && rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
ARG NODE_IMAGE
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Postern" \
      org.opencontainers.image.description="An authentication gateway in front of existing HTTP services" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="${NODE_IMAGE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}"
WORKDIR /app
COPY --from=dependencies /files/ /
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=dependencies /app/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY config/image.yaml /etc/postern/postern.yaml
COPY --from=build /app/dist ./dist
# The young generation: V8 makes it so small under a memory limit that collecting it takes three times as long, and so
# large without one that the process holds 70 MiB more (docs/limits.md, Memory).
# SQLite's temporary files: nothing else can be written.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=16 \
    POSTERN_CONFIG=/etc/postern/postern.yaml \
    SQLITE_TMPDIR=/data
VOLUME /data
EXPOSE 8080 9090
USER 10001:10001
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
