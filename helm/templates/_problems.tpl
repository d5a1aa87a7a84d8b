{{/* Combinations that can't work, each as a sentence in a list. The schema of the values has judged their types. */}}
{{- define "postern.problems" -}}
{{- $problems := list -}}
{{- range $part := list "config" "listener" "route" "secret" "store" "replica" "scaling" "mode" "upstream" "container" "version" "pod" "workers" "outside" -}}
{{- $problems = concat $problems (include (printf "postern.%sProblems" $part) $ | fromYamlArray) -}}
{{- end -}}
{{- toYaml $problems -}}
{{- end -}}

{{/* Without these `postern check` fails in the pod, where nobody sees it. */}}
{{- define "postern.configProblems" -}}
{{- $config := .Values.config -}}
{{- with .Values.extraArgs }}
{{- if regexMatch "(^| )--config( |=|$)" (join " " .) }}
- extraArgs has --config, which Postern is given already; put the file in a ConfigMap, and name that at existingConfig.
{{- end }}
{{- end }}
{{- if not .Values.image.repository }}
- image.repository is missing; name the place in your registry that you pushed Postern's image to.
{{- end }}
{{- if not .Values.existingConfig }}
{{- if not $config.tenant }}
- config.tenant is missing; it names this instance.
{{- end }}
{{- if not $config.base_url }}
- config.base_url is missing; it is the origin that clients see.
{{- else if and (kindIs "string" $config.base_url) (not (include "postern.hostOf" $config.base_url)) }}
- config.base_url is {{ $config.base_url }}; it must be an origin such as https://acme.example.com.
{{- end }}
{{- $forwards := false }}
{{- range $route := $config.routes }}
{{- if ne (toString $route.upstream) "none" }}{{- $forwards = true }}{{- end }}
{{- end }}
{{- if and (not $config.upstreams) (or $forwards (not $config.routes)) }}
- config.upstreams is missing; name the service that Postern stands in front of.
{{- end }}
{{- if not $config.routes }}
- config.routes is missing; without a route no path reaches the service.
{{- end }}
{{- end }}
{{- range $index, $origin := $config.hosts }}
{{- if and (kindIs "string" $origin) (not (include "postern.isOrigin" $origin)) }}
- config.hosts[{{ $index }}] is {{ $origin }}; it must be an origin such as https://wiki.acme.example.com or https://*.preview.acme.dev.
{{- end }}
{{- end }}
{{- end -}}

{{- define "postern.listenerProblems" -}}
{{- $config := .Values.config -}}
{{- $listen := $config.listen.host | default "" -}}
{{- $management := $config.management.host | default "" -}}
{{- if and (eq .Values.mode "gateway") (not .Values.extraContainers) (include "postern.isLoopback" $listen) }}
- config.listen.host is {{ $listen }}, which no Service reaches; a gateway's pod has Postern alone.
{{- end }}
{{- if include "postern.isLoopback" $management }}
{{- range $probe := list "startupProbe" "livenessProbe" "readinessProbe" }}
{{- if index $.Values $probe "httpGet" }}
- config.management.host is {{ $management }}; the kubelet's {{ $probe }} comes from outside the pod.
{{- end }}
{{- end }}
{{- if .Values.metrics.serviceMonitor.enabled }}
- config.management.host is {{ $management }}; Prometheus, for which metrics.serviceMonitor is, comes from outside the pod.
{{- end }}
{{- end }}
{{- range $index, $listener := $config.forward_auth }}
{{- if and (eq $.Values.mode "gateway") (not $.Values.extraContainers) (include "postern.isLoopback" ($listener.host | default "127.0.0.1")) }}
- config.forward_auth[{{ $index }}].host is {{ $listener.host | default "127.0.0.1" }}, which no proxy reaches; a gateway's pod has Postern alone.
{{- end }}
{{- if not $listener.port }}
- config.forward_auth[{{ $index }}].port is missing; the Service needs it.
{{- end }}
{{- end }}
{{- if eq (int $config.management.port) (int $config.listen.port) }}
- config.management.port and config.listen.port are both {{ $config.listen.port }}; the public port must not serve /metrics.
{{- end }}
{{- end -}}

{{- define "postern.routeProblems" -}}
{{- $upstreams := .Values.config.upstreams | default dict -}}
{{- $unaddressed := list -}}
{{- range $name, $upstream := $upstreams -}}
{{- if not $upstream.url -}}{{- $unaddressed = append $unaddressed $name -}}{{- end -}}
{{- end -}}
{{- with $unaddressed }}
- config.upstreams.*.url is missing of {{ join ", " . }}; it is the address of the service.
{{- end }}
{{- if not .Values.existingConfig }}
{{- range $route := .Values.config.routes }}
{{- if and (kindIs "string" $route.upstream) (ne $route.upstream "none") (not (hasKey $upstreams $route.upstream)) }}
- config.routes leads {{ $route.prefix | default $route.exact | default "a path" | toString }} to the upstream {{ $route.upstream }}, which is not in config.upstreams.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A ConfigMap is no place for a secret. */}}
{{- define "postern.secretProblems" -}}
{{- $config := .Values.config -}}
{{- $stores := $config.stores -}}
{{- if kindIs "string" (dig "bootstrap" "token" false $config) }}
- config.bootstrap.token is in plain text; name its Secret at secrets.bootstrapToken.existingSecret.
{{- end }}
{{- range $key, $value := dict "records_password" "recordsPassword" "sessions_password" "sessionsPassword" "sessions_sentinel_password" "sessionsSentinelPassword" }}
{{- if kindIs "string" (index $stores $key) }}
- config.stores.{{ $key }} is in plain text; name its Secret at secrets.{{ $value }}.existingSecret.
{{- end }}
{{- end }}
{{- range $store := list "records" "sessions" }}
{{- $address := index $stores $store }}
{{- if and (kindIs "string" $address) (or (regexMatch "^[a-zA-Z+]+:(//)?[^/@]*:[^/@]*@" $address) (regexMatch "(?i)[?&](ssl)?password=" $address)) }}
- config.stores.{{ $store }} has a password in its address; leave it out there and name its Secret at secrets.{{ $store }}Password.existingSecret.
{{- end }}
{{- end }}
{{- range $name, $provider := $config.identity_providers }}
{{- if kindIs "string" $provider.client_secret }}
- config.identity_providers.{{ $name }}.client_secret is in plain text; name its Secret at secrets.identityProviders.{{ $name }}.existingSecret.
{{- end }}
{{- end }}
{{- range $name, $upstream := $config.upstreams }}
{{- $assertion := $upstream.assertion | default dict }}
{{- if kindIs "string" $assertion.secret }}
- config.upstreams.{{ $name }}.assertion.secret is in plain text; name its Secret at secrets.assertions.{{ $name }}.existingSecret.
{{- end }}
{{- end }}
{{- range include "postern.secretFiles" . | fromYamlArray }}
{{- $given := $config }}
{{- range .at }}{{- $given = get ($given | default dict) . }}{{- end }}
{{- if kindIs "map" $given }}
- config.{{ join "." .at }} is given twice, there and in secrets; leave one of them out.
{{- end }}
{{- end }}
{{- if and .Values.tls.existingSecret $config.listen.tls }}
- config.listen.tls is given twice, there and by tls.existingSecret; leave one of them out.
{{- end }}
{{- if and .Values.tls.clientCa.existingSecret (not .Values.tls.existingSecret) (not .Values.existingConfig) }}
- tls.clientCa is for HTTPS from Postern itself; name its certificate at tls.existingSecret, or leave it out.
{{- end }}
{{- range $name, $from := .Values.secrets.identityProviders }}
{{- if not (or $from.existingSecret $from.value) }}
- secrets.identityProviders.{{ $name }} has no existingSecret.
{{- end }}
{{- if and (not $.Values.existingConfig) (not (hasKey ($config.identity_providers | default dict) $name)) }}
- secrets.identityProviders.{{ $name }} is the secret of no provider in config.identity_providers.
{{- end }}
{{- end }}
{{- range $name, $from := .Values.secrets.assertions }}
{{- if not (or $from.existingSecret $from.value) }}
- secrets.assertions.{{ $name }} has no existingSecret.
{{- end }}
{{- if and (not $.Values.existingConfig) (ne (dig $name "assertion" "algorithm" "" ($config.upstreams | default dict)) "HS256") }}
- secrets.assertions.{{ $name }} is the secret of no upstream in config.upstreams whose assertion has the algorithm HS256.
{{- end }}
{{- end }}
{{- end -}}

{{- define "postern.storeProblems" -}}
{{- $stores := .Values.config.stores -}}
{{- range $store := list "records" "sessions" }}
{{- $address := index $stores $store | default "sqlite:" }}
{{- if kindIs "string" $address }}
{{- $isFile := hasPrefix "sqlite:" $address }}
{{- $from := index $.Values.secrets (printf "%sPassword" $store) }}
{{- $hasPassword := or $from.existingSecret $from.value (index $stores (printf "%s_password" $store)) (dig (printf "%s_tls" $store) "cert" "" $stores) }}
{{- if and $isFile (not (hasPrefix "sqlite:/data/" $address)) (not $.Values.extraVolumeMounts) }}
- config.stores.{{ $store }} is an SQLite file outside /data; nothing else can be written.
{{- end }}
{{- if and (not $isFile) $from.required (not $hasPassword) }}
- secrets.{{ $store }}Password.existingSecret is missing; config.stores.{{ $store }} is a server. Set secrets.{{ $store }}Password.required to false when it asks for no password.
{{- end }}
{{- if and $isFile (or $from.existingSecret $from.value) }}
- secrets.{{ $store }}Password is the password of a server, but config.stores.{{ $store }} is an SQLite file.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
